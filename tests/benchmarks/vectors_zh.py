"""Vectors for Chinese: does a line find the memory that means the same in other words, among forty?

    python -m tests.benchmarks.vectors_zh [--models qwen2.5-0.5b qwen2.5-1.5b]

The pairs were written before any model saw them, share few characters, and are not to be tuned on. MiniLM and the
hashed words are what a world uses today. Of a language model it is the last layer, averaged over tokens; the second
row takes away the mean of all texts, which such vectors share. A ratio against guessing is printed beside each.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from simcounsel.llm.embeddings import HashEmbeddings, MiniLM

Matrix = NDArray[np.float32]
PAIRS = (
    ("昨晚凌晨三点我又醒了,一直看着天花板。", "半夜总是睁着眼睛到天亮。"),
    ("爸爸去世以后,家里再也没有人下棋了。", "父亲走了,棋盘一直空着。"),
    ("老板当着全组的面说我的报告是垃圾。", "开会时领导公开羞辱了我的工作。"),
    ("女儿不接我的电话已经两个星期了。", "孩子很久没有理过我这个妈妈。"),
    ("我把安眠药藏在抽屉最里面。", "帮助入睡的药片放在没人找得到的地方。"),
    ("下周就要高考了,我一翻书手就抖。", "快到那场大考,我紧张得没法复习。"),
    ("丈夫的手机里有别的女人发来的消息。", "我发现爱人可能有外遇。"),
    ("体检说我的肝上有一个阴影。", "医生在检查里看到了不好的东西。"),
    ("房租又涨了,我的工资只够付一半。", "钱不够用,住的地方快保不住了。"),
    ("在超市里我突然喘不过气,以为要死了。", "买东西的时候惊恐发作。"),
    ("每天下班我都要喝掉一瓶白酒。", "没有酒精我撑不过晚上。"),
    ("同学在群里给我起外号,大家都在笑。", "班上的人在网上一起嘲弄我。"),
    ("我养了十二年的狗昨天没了。", "陪我最久的宠物离开了。"),
    ("出门以后我要回去检查煤气五六遍。", "反复确认炉子关没关,停不下来。"),
    ("弟弟结婚了,妈妈又问我什么时候。", "家里催我成家。"),
    ("我在梦里又看见那辆翻倒的卡车。", "车祸的画面夜里一再回来。"),
    ("公司裁员,名单上有我的名字。", "我失业了。"),
    ("镜子里的我怎么看都太胖,午饭又没吃。", "我为了身材不肯进食。"),
    ("小时候叔叔对我做过不该做的事。", "童年时被亲戚侵犯。"),
    ("孩子出生后我整天想哭,抱着他没有感觉。", "生完宝宝,我高兴不起来。"),
    ("邻居老太太每周给我送一碗热汤。", "住在隔壁的奶奶很照顾我。"),
    ("周六我去河边跑了五公里,心里松快多了。", "运动之后情绪好了些。"),
    ("我在台上忘了词,全场都很安静。", "演讲时脑子一片空白。"),
    ("妻子说如果再赌一次就离婚。", "我输钱的事让婚姻走到了边缘。"),
    ("儿子整夜打游戏,白天不肯去学校。", "孩子沉迷网络,逃课。"),
    ("护士值班连着十四个小时,我连水都没喝。", "工作太累,医院里忙得顾不上自己。"),
    ("奶奶已经不认得我是谁了。", "老人得了失智症,记忆没了。"),
    ("刚到这个城市,我一个说话的人都没有。", "搬来以后很孤单,没有朋友。"),
    ("我把日记烧了,怕别人看见。", "写下的心事不能让人知道。"),
    ("他吵架时把碗摔在我脚边。", "伴侣发火就砸东西,我很害怕。"),
    ("论文改了七稿,导师还是摇头。", "怎么写都过不了教授那一关。"),
    ("坐电梯我一定要走楼梯,十八层也走。", "我害怕狭小封闭的空间。"),
    ("妹妹学会了弹吉他,晚上唱给我听。", "家人的音乐让我安慰。"),
    ("我答应了三个人的忙,自己的事一件没做。", "我不会拒绝别人。"),
    ("银行每天打来催我还信用卡。", "欠债让我不敢接听陌生号码。"),
    ("手术以后右腿再也不能像从前那样走。", "身体落下残疾,行动不便。"),
    ("我向爸妈说了我喜欢的是男生。", "跟家里出柜。"),
    ("十点以后不看屏幕,这个星期睡得好一点。", "改了睡前习惯,失眠有了好转。"),
    ("老同学聚会,他们都有房有车。", "跟同龄人比,我觉得自己很失败。"),
    ("我在阳台种的番茄结了第一个果子。", "亲手养的植物给了我一点希望。"),
)


def found(vectors: Matrix) -> tuple[float, float]:
    """How often the right memory comes first, and the mean of 1 over its place. vectors: of all memories, then of
    all lines that ask.
    """
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    memories, asked = np.split(unit, 2)
    scores = asked @ memories.T
    own = np.diag(scores)[:, None]
    places = (scores >= own).sum(axis=1)  # of equals the worst place
    return float((places == 1).mean()), float((1 / places).mean())


def of_model(name: str, texts: list[str]) -> Matrix:
    import torch
    from transformers import AutoModel, AutoTokenizer

    from training.learning.base import unpacked

    folder = str(unpacked(name))
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    made = []
    with torch.no_grad():
        for text in texts:
            told = tokenizer(text, return_tensors="pt")
            made.append(model(**told).last_hidden_state[0].mean(dim=0).numpy())
    return np.stack(made)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--models", nargs="*", default=["qwen2.5-0.5b", "qwen2.5-1.5b"])
    names = options.parse_args().models
    texts = [memory for memory, _ in PAIRS] + [asked for _, asked in PAIRS]
    rows = {
        "hashed words": np.asarray(HashEmbeddings().embed_now(texts)),
        "all-MiniLM-L6-v2": np.asarray(MiniLM().embed_now(texts)),
    }
    for name in names:
        vectors = of_model(name, texts)
        rows[name] = vectors
        rows[f"{name}, without the mean"] = vectors - vectors.mean(axis=0)
    for name, vectors in rows.items():
        first, rank = found(vectors)
        ratio = first * len(PAIRS)
        print(
            f"{name:<32} first {first:.3f}   reciprocal rank {rank:.3f}   {ratio:.1f} times guessing"
        )


if __name__ == "__main__":
    main()
