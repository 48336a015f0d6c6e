"""What is asked back, and what is said when nothing was done, in five languages."""

import re
from collections.abc import Sequence

from hubd.home.model import Entity

SENTENCES: dict[str, dict[str, str]] = {
    "which": {
        "en": "Which one: {names}?",
        "zh": "哪一个：{names}？",
        "de": "Welches: {names}?",
        "fr": "Lequel : {names} ?",
        "es": "¿Cuál: {names}?",
    },
    "nothing": {
        "en": "There is nothing here that I could do that with. Where, or which one?",
        "zh": "这里没有可以这样操作的设备。是哪里的，或者哪一个？",
        "de": "Hier gibt es nichts, womit ich das tun könnte. Wo, oder welches?",
        "fr": "Il n'y a rien ici pour cela. Où, ou lequel ?",
        "es": "Aquí no hay nada con que hacerlo. ¿Dónde, o cuál?",
    },
    "nothing_there": {
        "en": "There is nothing in “{said}” that I could do that with.",
        "zh": "“{said}”里没有可以这样操作的设备。",
        "de": "In „{said}“ gibt es nichts, womit ich das tun könnte.",
        "fr": "Dans « {said} », il n'y a rien pour cela.",
        "es": "En «{said}» no hay nada con que hacerlo.",
    },
    "confirm": {
        "en": "“{said}” ({names}): shall I do that? Yes or no.",
        "zh": "“{said}”（{names}）：确定要这样做吗？请回答是或否。",
        "de": "„{said}“ ({names}): soll ich das tun? Ja oder nein.",
        "fr": "« {said} » ({names}) : dois-je le faire ? Oui ou non.",
        "es": "«{said}» ({names}): ¿lo hago? Sí o no.",
    },
    "nobody_known": {
        "en": "I know of nobody who lives here, so I cannot tell.",
        "zh": "我这里还没有登记任何家人，所以不知道谁在家。",
        "de": "Ich kenne niemanden, der hier wohnt, und kann es deshalb nicht sagen.",
        "fr": "Je ne connais personne qui habite ici, je ne peux donc pas le dire.",
        "es": "No conozco a nadie que viva aquí, así que no puedo decirlo.",
    },
    "unmeasured": {
        "en": "There is nothing there that would tell.",
        "zh": "那里没有能告诉我的设备。",
        "de": "Dort gibt es nichts, was das sagen könnte.",
        "fr": "Il n'y a rien là-bas qui le dise.",
        "es": "Allí no hay nada que lo diga.",
    },
    "missing": {
        "en": "Something is missing: how long, when, or what?",
        "zh": "还缺一点信息：多久、什么时候，或者什么？",
        "de": "Es fehlt noch etwas: wie lange, wann oder was?",
        "fr": "Il manque quelque chose : combien de temps, quand ou quoi ?",
        "es": "Falta algo: ¿cuánto tiempo, cuándo o qué?",
    },
    "dropped": {
        "en": "All right, I leave it.",
        "zh": "好的，不做了。",
        "de": "Gut, ich lasse es.",
        "fr": "D'accord, je ne fais rien.",
        "es": "De acuerdo, no lo hago.",
    },
    "nothing_said": {
        "en": "I have not said anything yet.",
        "zh": "我还没有说过什么。",
        "de": "Ich habe noch nichts gesagt.",
        "fr": "Je n'ai encore rien dit.",
        "es": "Aún no he dicho nada.",
    },
    "nothing_to_undo": {
        "en": "There is nothing to undo.",
        "zh": "没有可以撤销的操作。",
        "de": "Es gibt nichts rückgängig zu machen.",
        "fr": "Il n'y a rien à annuler.",
        "es": "No hay nada que deshacer.",
    },
    "nothing_done": {
        "en": "I have not done anything in the last ten minutes.",
        "zh": "最近十分钟我什么都没做。",
        "de": "In den letzten zehn Minuten habe ich nichts getan.",
        "fr": "Je n'ai rien fait ces dix dernières minutes.",
        "es": "No he hecho nada en los últimos diez minutos.",
    },
    "declined": {
        "en": "I did not understand what I shall do, so I did nothing."
        " Name the device and what it shall do.",
        "zh": "我没听懂要做什么，所以什么都没做。请说出设备和要做的事。",
        "de": "Ich habe nicht verstanden, was ich tun soll, und habe nichts getan."
        " Nenne das Gerät und was es tun soll.",
        "fr": "Je n'ai pas compris ce que je dois faire ; je n'ai rien fait."
        " Nommez l'appareil et l'action.",
        "es": "No entendí qué debo hacer y no hice nada. Di el aparato y lo que debe hacer.",
    },
    "no_devices": {
        "en": "I did nothing, for I know of no devices in this home yet. Connect Home Assistant"
        " (hubd home connect), or describe the home in a file (hubd home load).",
        "zh": "什么都没做：这个家里还没有我认识的设备。请接入 Home Assistant（hubd home connect），"
        "或用文件描述这个家（hubd home load）。",
        "de": "Ich habe nichts getan, denn ich kenne in diesem Zuhause noch keine Geräte. Verbinde"
        " Home Assistant (hubd home connect) oder beschreibe das Zuhause in einer Datei"
        " (hubd home load).",
        "fr": "Je n'ai rien fait, car je ne connais encore aucun appareil ici. Connectez Home"
        " Assistant (hubd home connect) ou décrivez la maison dans un fichier (hubd home load).",
        "es": "No hice nada, pues aún no conozco ningún aparato en esta casa. Conecta Home"
        " Assistant (hubd home connect) o describe la casa en un archivo (hubd home load).",
    },
    "no_room": {
        "en": "I know no room or device here that is called “{said}”, so I did nothing.",
        "zh": "这里没有叫“{said}”的房间或设备，所以什么都没做。",
        "de": "Ich kenne hier keinen Raum und kein Gerät namens „{said}“ und habe nichts getan.",
        "fr": "Je ne connais ici ni pièce ni appareil nommé « {said} » ; je n'ai rien fait.",
        "es": "No conozco aquí ninguna habitación ni aparato llamado «{said}» y no hice nada.",
    },
    "part_declined": {
        "en": "Not done, because I did not understand it: “{said}”.",
        "zh": "没听懂，没有做：“{said}”。",
        "de": "Nicht getan, weil ich es nicht verstanden habe: „{said}“.",
        "fr": "Pas fait, car je ne l'ai pas compris : « {said} ».",
        "es": "No hecho, porque no lo entendí: «{said}».",
    },
    "not_told": {
        "en": "I don't know: your documents do not tell.",
        "zh": "我不知道：您的文档里没有写。",
        "de": "Das weiß ich nicht: In deinen Dokumenten steht es nicht.",
        "fr": "Je ne sais pas : vos documents ne le disent pas.",
        "es": "No lo sé: tus documentos no lo dicen.",
    },
    "closest": {
        "en": "I don't know: your documents do not clearly tell. What comes closest is in {said}:",
        "zh": "我不知道：您的文档里没有明确写。最接近的内容在 {said}：",
        "de": "Das weiß ich nicht: In deinen Dokumenten steht es nicht deutlich."
        " Am nächsten kommt etwas in {said}:",
        "fr": "Je ne sais pas : vos documents ne le disent pas clairement."
        " Le plus proche est dans {said} :",
        "es": "No lo sé: tus documentos no lo dicen claramente. Lo más parecido está en {said}:",
    },
    "no_documents": {
        "en": "I don't know that. There are no documents yet that could tell:"
        " add some on the page.",
        "zh": "这个我不知道。还没有能查的文档，可以在页面上添加。",
        "de": "Das weiß ich nicht. Es gibt noch keine Dokumente, in denen es stehen könnte:"
        " Füge welche auf der Seite hinzu.",
        "fr": "Je ne sais pas. Il n'y a pas encore de documents qui pourraient le dire :"
        " ajoutez-en sur la page.",
        "es": "No lo sé. Aún no hay documentos que puedan decirlo: añade algunos en la página.",
    },
    "not_understood": {
        "en": "I did not understand that, so I did nothing. Say it again in other words.",
        "zh": "这句我没听懂，所以什么都没做。请换个说法再说一次。",
        "de": "Das habe ich nicht verstanden und deshalb nichts getan."
        " Sag es bitte noch einmal anders.",
        "fr": "Je n'ai pas compris et je n'ai donc rien fait. Dites-le autrement.",
        "es": "No lo entendí, así que no hice nada. Dilo de otra manera.",
    },
    "not_understood_nor_told": {
        "en": "I did not understand that as something to do, and your documents do not tell"
        " anything about it.",
        "zh": "这句我没听懂要做什么，您的文档里也没有写到。",
        "de": "Ich habe nicht verstanden, was ich damit tun soll,"
        " und in deinen Dokumenten steht nichts darüber.",
        "fr": "Je n'ai pas compris ce que je dois en faire, et vos documents n'en disent rien.",
        "es": "No entendí qué debo hacer con eso, y tus documentos no dicen nada de ello.",
    },
    "being_read": {
        "en": " Still being read: {said} of them. Ask me again when that is done.",
        "zh": "还有 {said} 个文档正在读取，读完后请再问我一次。",
        "de": " Noch nicht gelesen: {said} davon. Frag mich danach noch einmal.",
        "fr": " Encore à lire : {said} d'entre eux. Redemandez-moi ensuite.",
        "es": " Aún por leer: {said} de ellos. Pregúntame otra vez después.",
    },
    "do_what": {
        "en": "I did not understand what I shall do with that: {names}?",
        "zh": "我没听懂要怎样操作：{names}？",
        "de": "Ich habe nicht verstanden, was ich damit tun soll: {names}?",
        "fr": "Je n'ai pas compris ce que je dois en faire : {names} ?",
        "es": "No entendí qué debo hacer con eso: ¿{names}?",
    },
    "not_later": {
        "en": "I do not leave that for later: somebody has to say yes when it is done."
        " Ask me again then.",
        "zh": "这件事不能留到以后做：做的时候需要有人确认。到时候再告诉我吧。",
        "de": "Das hebe ich nicht für später auf: Es muss jemand zustimmen, wenn es geschieht."
        " Sag es mir dann noch einmal.",
        "fr": "Je ne le remets pas à plus tard : il faut dire oui au moment voulu."
        " Redemandez-le-moi alors.",
        "es": "No lo dejo para más tarde: alguien debe decir que sí en ese momento."
        " Pídemelo entonces.",
    },
    "not_one_day": {
        "en": "I cannot leave out a single day, so it stays as it is.",
        "de": "Einen einzelnen Tag kann ich nicht auslassen, es bleibt also, wie es ist.",
        "zh": "我没法只跳过一天，所以没有改动。",
        "fr": "Je ne peux pas sauter un seul jour, donc rien ne change.",
        "es": "No puedo saltarme un solo día, así que se queda como está.",
    },
    "not_awaited": {
        "en": "I can only wait for a time or for the sun, not for that, so I did nothing.",
        "zh": "我只能等到某个时间，或者日出日落，等不了这个，所以什么都没做。",
        "de": "Ich kann nur auf eine Uhrzeit oder auf die Sonne warten, darauf nicht,"
        " und habe nichts getan.",
        "fr": "Je ne peux attendre qu'une heure ou le soleil, pas cela ; je n'ai rien fait.",
        "es": "Solo puedo esperar una hora o el sol, eso no, y no hice nada.",
    },
    "danger": {
        "en": "I can't help there, and I can call nobody. If anybody is in danger, get everybody"
        " out and call the emergency services.",
        "zh": "这个我帮不上忙，也没法打电话。如果有危险，请大家马上离开，并拨打急救或报警电话。",
        "de": "Da kann ich nicht helfen und niemanden anrufen. Wenn jemand in Gefahr ist, geht alle"
        " hinaus und ruft den Notruf.",
        "fr": "Je ne peux pas aider et je ne peux appeler personne. En cas de danger, sortez tous"
        " et appelez les secours.",
        "es": "No puedo ayudar ni llamar a nadie. Si hay peligro, salid todos y llamad a"
        " emergencias.",
    },
    "not_for_me": {
        "en": "I take it that was not for me.",
        "zh": "这话大概不是对我说的。",
        "de": "Das war wohl nicht für mich.",
        "fr": "Ce n'était sans doute pas pour moi.",
        "es": "Supongo que eso no era para mí.",
    },
    "nothing_asked": {
        "en": "I did not ask anything.",
        "zh": "我没有问什么。",
        "de": "Ich habe nichts gefragt.",
        "fr": "Je n'ai rien demandé.",
        "es": "No he preguntado nada.",
    },
    "other_person": {
        "en": "Only the person who asked can confirm that.",
        "zh": "只有提出要求的人可以确认。",
        "de": "Das kann nur bestätigen, wer es wollte.",
        "fr": "Seule la personne qui l'a demandé peut confirmer.",
        "es": "Solo quien lo pidió puede confirmarlo.",
    },
}
_NOBODY = re.compile(r" ?[(（]-[)）]")
"""Of a call that touches no entity, nothing is named."""
_OR = {"en": " or ", "zh": "还是", "de": " oder ", "fr": " ou ", "es": " o "}


def ask(language: str, key: str, entities: Sequence[Entity] = (), said: str = "") -> str:
    """The sentence ``key``; choices are joined with "or"."""
    known = language if language in _OR else "en"
    between = _OR[known] if key == "which" else ", "
    names = between.join(dict.fromkeys(entity.name for entity in entities)) or "-"
    sentence = SENTENCES[key][known].format_map({"names": names, "said": said})
    return _NOBODY.sub("", sentence)
