"""A voice whose every word is a moment of silence."""

import io
import wave

from homeassistant.components.tts import TextToSpeechEntity


async def async_setup_entry(hass, entry, async_add_entities):
    async_add_entities([Voice()])


class Voice(TextToSpeechEntity):
    _attr_name = "Voice"
    _attr_unique_id = "voice"

    @property
    def default_language(self):
        return "en"

    @property
    def supported_languages(self):
        return ["en"]

    def get_tts_audio(self, message, language, options):
        silence = io.BytesIO()
        with wave.open(silence, "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(8000)
            sound.writeframes(bytes(1600))
        return "wav", silence.getvalue()
