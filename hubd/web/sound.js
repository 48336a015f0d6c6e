/**
 * A bell, synthesised, so that there is no sound file to load. Browsers allow it after a first gesture.
 */

/** @type {AudioContext | null} */
let context = null;

function unlock() {
  context ??= new AudioContext();
  context.resume().catch(() => {});
}
addEventListener("pointerdown", unlock, { passive: true });
addEventListener("keydown", unlock, { passive: true });

/** One soft note. @param {AudioContext} audio @param {number} hertz @param {number} delay in seconds */
function note(audio, hertz, delay) {
  const begin = audio.currentTime + delay;
  const tone = audio.createOscillator();
  const loudness = audio.createGain();
  tone.frequency.value = hertz;
  loudness.gain.setValueAtTime(0.0001, begin);
  loudness.gain.exponentialRampToValueAtTime(0.25, begin + 0.02);
  loudness.gain.exponentialRampToValueAtTime(0.0001, begin + 1.1);
  tone.connect(loudness).connect(audio.destination);
  tone.start(begin);
  tone.stop(begin + 1.2);
}

/** Two notes, like a kitchen bell. Silent until the person has touched the page once. */
export function ringBell() {
  if (!context || context.state !== "running") return;
  note(context, 880, 0);
  note(context, 1174.7, 0.18);
}
