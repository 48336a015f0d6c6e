"""How a word sounds, roughly: words that sound alike are mistaken for each other.

Languages with letters: the consonants, those that sound alike as one. Chinese: the syllables
without tones, flat and retroflex, front and back nasals as one. Nothing is known of meanings.
"""

import bisect
import re
import unicodedata
from functools import cache, lru_cache

SHORTEST = 3
"""Consonants; a word of fewer sounds like too many others."""

# GB 2312 orders its 3755 most common characters by their reading; here the first of every syllable.
_FIRST_OF_SYLLABLE = (
    "啊a 埃ai 鞍an 肮ang 凹ao 芭ba 白bai 斑ban 邦bang 苞bao 杯bei 奔ben 崩beng 逼bi 鞭bian "
    "标biao 鳖bie 彬bin 兵bing 玻bo 捕bu 擦ca 猜cai 餐can 苍cang 操cao 厕ce 层ceng 插cha "
    "拆chai 搀chan 昌chang 超chao 车che 郴chen 撑cheng 吃chi 充chong 抽chou 初chu 揣chuai "
    "川chuan 疮chuang 吹chui 春chun 戳chuo 疵ci 聪cong 凑cou 粗cu 蹿cuan 摧cui 村cun 磋cuo "
    "搭da 呆dai 耽dan 当dang 刀dao 德de 蹬deng 堤di 颠dian 碉diao 跌die 丁ding 丢diu 东dong "
    "兜dou 督du 端duan 堆dui 墩dun 掇duo 蛾e 恩en 而er 发fa 藩fan 坊fang 菲fei 芬fen 丰feng "
    "佛fo 否fou 夫fu 噶ga 该gai 干gan 冈gang 篙gao 哥ge 给gei 根gen 耕geng 工gong 钩gou 辜gu "
    "刮gua 乖guai 棺guan 光guang 瑰gui 辊gun 锅guo 哈ha 骸hai 酣han 夯hang 壕hao 呵he 嘿hei "
    "痕hen 哼heng 轰hong 喉hou 呼hu 花hua 槐huai 欢huan 荒huang 灰hui 荤hun 豁huo 击ji 嘉jia "
    "歼jian 僵jiang 蕉jiao 揭jie 巾jin 荆jing 炯jiong 揪jiu 鞠ju 捐juan 撅jue 均jun 喀ka "
    "开kai 刊kan 康kang 考kao 坷ke 肯ken 坑keng 空kong 抠kou 枯ku 夸kua 块kuai 宽kuan 匡kuang "
    "亏kui 坤kun 括kuo 垃la 莱lai 蓝lan 琅lang 捞lao 勒le 雷lei 棱leng 厘li 俩lia 联lian "
    "粮liang 撩liao 列lie 琳lin 玲ling 溜liu 龙long 楼lou 芦lu 峦luan 抡lun 萝luo 妈ma 埋mai "
    "瞒man 芒mang 猫mao 么me 玫mei 门men 萌meng 眯mi 棉mian 苗miao 蔑mie 民min 明ming 谬miu "
    "摸mo 谋mou 拇mu 拿na 氖nai 南nan 囊nang 挠nao 呢ne 馁nei 嫩nen 能neng 妮ni 蔫nian 娘niang "
    "鸟niao 捏nie 您nin 柠ning 牛niu 脓nong 奴nu 暖nuan 挪nuo 哦o 欧ou 啪pa 拍pai 攀pan 乓pang "
    "抛pao 呸pei 喷pen 砰peng 坯pi 篇pian 飘piao 撇pie 拼pin 乒ping 坡po 扑pu 期qi 掐qia "
    "牵qian 枪qiang 橇qiao 切qie 钦qin 青qing 琼qiong 秋qiu 趋qu 圈quan 缺que 裙qun 然ran "
    "瓤rang 饶rao 惹re 壬ren 扔reng 日ri 戎rong 揉rou 茹ru 软ruan 蕊rui 闰run 若ruo 撒sa 腮sai "
    "三san 桑sang 搔sao 瑟se 森sen 僧seng 莎sha 筛shai 珊shan 墒shang 梢shao 奢she 砷shen "
    "声sheng 师shi 收shou 蔬shu 刷shua 摔shuai 栓shuan 霜shuang 谁shui 吮shun 说shuo 斯si "
    "松song 搜sou 苏su 酸suan 虽sui 孙sun 蓑suo 塌ta 胎tai 坍tan 汤tang 掏tao 特te 藤teng 梯ti "
    "天tian 挑tiao 贴tie 厅ting 通tong 偷tou 凸tu 湍tuan 推tui 吞tun 拖tuo 挖wa 歪wai 豌wan "
    "汪wang 威wei 瘟wen 嗡weng 挝wo 巫wu 昔xi 瞎xia 掀xian 相xiang 萧xiao 楔xie 薪xin 星xing "
    "兄xiong 休xiu 墟xu 轩xuan 靴xue 勋xun 压ya 焉yan 殃yang 邀yao 椰ye 一yi 茵yin 英ying 哟yo "
    "拥yong 幽you 迂yu 鸳yuan 曰yue 耘yun 匝za 栽zai 咱zan 赃zang 遭zao 责ze 贼zei 怎zen "
    "增zeng 扎zha 摘zhai 瞻zhan 樟zhang 招zhao 遮zhe 珍zhen 蒸zheng 芝zhi 中zhong 舟zhou "
    "珠zhu 抓zhua 拽zhuai 专zhuan 桩zhuang 椎zhui 谆zhun 捉zhuo 兹zi 鬃zong 邹zou 租zu "
    "钻zuan 嘴zui 尊zun 昨zuo "
)
_OTHER_READINGS = {
    "觉": "jiao", "行": "hang", "调": "diao", "还": "huan", "了": "liao", "乐": "yue",
    "长": "chang", "重": "chong", "地": "di", "得": "dei", "着": "zhao", "都": "du", "大": "dai",
    "降": "xiang", "曲": "qu", "的": "di", "会": "kuai", "空": "kong", "卡": "qia", "便": "pian",
    "间": "jian", "盛": "cheng", "系": "ji", "薄": "bo", "单": "shan", "弹": "tan", "省": "xing",
    "数": "shu", "量": "liang", "转": "zhuan", "处": "chu", "几": "ji", "少": "shao", "干": "gan",
}  # fmt: skip
"""Common characters that are read in another way too, or first in one that is rare."""
_FLAT = (("zh", "z"), ("ch", "c"), ("sh", "s"))
_CONSONANTS = {
    "en": (
        ("[^a-z]", ""), ("ph", "f"), ("^kn", "n"), ("^wr", "r"), ("gh", ""), ("tch", "c"),
        ("ck|q", "k"), ("c(?=[eiy])", "s"), ("c(?!h)", "k"), ("x", "ks"), ("z", "s"), ("dg", "j"),
        ("th", "t"), ("v", "f"), ("mb(?=$)", "m"),
    ),
    "de": (
        ("[^a-z]", ""), ("ph|v|w", "f"), ("sch", "x"), ("ck|q|c", "k"), ("z", "s"),
        ("th|dt|d", "t"), ("b", "p"), ("g", "k"), ("h", ""),
    ),
}  # fmt: skip


@lru_cache(maxsize=4096)
def sound(text: str, language: str) -> str:
    """What ``text`` (lower case) sounds like; empty where that says too little."""
    if language == "zh":
        syllables = [syllable(character) for character in text]
        return "'".join(syllables) if len(syllables) > 1 and all(syllables) else ""
    rules = _CONSONANTS.get(language)
    if rules is None:
        return ""
    letters = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    letters = "".join(c for c in letters if not unicodedata.combining(c))
    for pattern, sounds in rules:
        letters = re.sub(pattern, sounds, letters)
    first, rest = letters[:1], re.sub("[aeiouyhw]", "", letters[1:])
    skeleton = re.sub(r"(.)\1+", r"\1", ("" if first in "aeiouy" else first) + rest)
    return skeleton if len(skeleton) >= SHORTEST else ""


@cache
def _table() -> tuple[list[bytes], list[str]]:
    """The codes of the first characters, ascending, and their syllables."""
    entries = _FIRST_OF_SYLLABLE.split()
    return [entry[0].encode("gb2312") for entry in entries], [entry[1:] for entry in entries]


@lru_cache(maxsize=4096)
def syllable(character: str) -> str:
    """A character's commonest reading, tones and doubtful sounds left out; empty: not known."""
    try:
        code = character.encode("gb2312")
    except UnicodeEncodeError:
        return ""
    if not b"\xb0\xa1" <= code <= b"\xd7\xf9":
        return ""
    codes, syllables = _table()
    return _alike(syllables[bisect.bisect_right(codes, code) - 1])


def readings(character: str) -> list[str]:
    """All that a character may sound like, its commonest reading first."""
    other = _OTHER_READINGS.get(character)
    found = [syllable(character), _alike(other) if other else ""]
    return [one for one in dict.fromkeys(found) if one]


def _alike(syllable: str) -> str:
    """A syllable without what is taken for something else."""
    for retroflex, flat in _FLAT:
        if syllable.startswith(retroflex):
            syllable = flat + syllable.removeprefix(retroflex)
    return re.sub("(?<=[aei])ng$", "n", syllable)
