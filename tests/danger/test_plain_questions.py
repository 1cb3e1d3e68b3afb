"""What counts as a plain question about a danger: good ones in many words are taken, others are not."""

from collections.abc import Mapping

from simcounsel.danger.protection.data import words
from simcounsel.danger.protection.wording import Wanted
from simcounsel.prompts.twins import complained
from simcounsel.specs.vocabulary import Danger
from tests.each import each

GOOD: Mapping[tuple[str, Danger], str] = {
    ("en", "suicide"): """
        Are you thinking of killing yourself?
        Are you having thoughts of suicide?
        Have you been thinking about ending your life?
        Do you think about taking your own life?
        When you say it would be easier not to be here, do you mean that you want to die?
        Is suicide something you think about?
        Are you feeling suicidal right now?
        I'm going to ask you straight out, because I care. Do you want to kill yourself?
        Has it come to the point where you would rather be dead?
        Do you ever wish you were dead?
        Do you want to end your own life?
        Have you had any thoughts of wanting to die this week?
        Is part of you thinking of suicide?
        That sounds so heavy. Does it get so bad that you don't want to live?
        Have you thought of ending your life since we last met?
        Are the thoughts of killing yourself there today?
        Would I be right that you have been thinking of suicide?
        Do you sometimes go to bed and want not to wake up, or want to die?
        Did you mean that you are thinking about death, about being dead yourself?
        Have you ever thought about suicide?
    """,
    ("en", "self_harm"): """
        Are you hurting yourself?
        Have you been harming yourself?
        Do you hurt yourself when it gets too much?
        Did you injure yourself last night?
        Have you been self-harming?
        Is self-harm something that happens when you are alone?
        Do you feel like hurting yourself now?
        Have you hurt yourself since we last spoke?
        When you say you needed it to stop, did you harm yourself?
        Are you close to hurting yourself today?
        I ask this plainly. Do you self-harm?
        Do you burn yourself or hurt yourself in any way?
        Is there an urge to hurt yourself at the moment?
        Is hurting yourself how you get through the nights?
        Have there been times this week when you hurt yourself?
        Would you tell me whether you hurt yourself?
        Do you ever injure yourself on purpose?
        I noticed your sleeve. Have you been hurting your arm, or hurting yourself anywhere?
        Are you thinking about harming yourself?
        Could it be that you hurt yourself again?
    """,
    ("en", "harm_to_others"): """
        Are you thinking of hurting him?
        Do you think about harming your brother?
        Do you want to kill him?
        Is hurting somebody something you feel close to doing?
        Have you thought about attacking her?
        When you say he will get what he deserves, do you mean that you want to hurt him?
        Are you afraid that you might hurt someone?
        Do you have thoughts of hurting other people?
        Have you ever been violent with her?
        Could you see yourself injuring somebody?
        Do you intend to hurt your boss?
        Are the thoughts about killing him there today?
        Is there somebody whom you want to harm?
        I want to ask it straight. Do you mean to hurt anyone?
        Have you hurt anyone so far?
        Do you worry that you will do violence to her?
        Are you thinking about hurting the people at work?
        Do you think you might harm your son when you are that angry?
        Has it come near to harming someone?
        Are there thoughts of hurting that man?
    """,
    ("en", "abuse"): """
        Is somebody hurting you?
        Does he hit you?
        Are you being hurt at home?
        Has your partner ever hurt you?
        Does anyone threaten you?
        Are you afraid of him?
        Do you feel safe at home?
        Is there somebody who hurts you or makes you afraid?
        Has he ever forced you to do anything you did not want?
        Were you hit last night?
        Is someone abusing you?
        Are you safe with her?
        When he gets like that, does he hurt you?
        Has your father ever beaten you?
        Has anyone been violent towards you?
        Does she frighten you?
        Do you get threatened at home?
        Are you scared of going home?
        Is it safe for you there, or is it unsafe around him?
        Did he push you or hurt you in any way?
    """,
    ("zh", "suicide"): """
        你有想结束自己生命的想法吗？
        你有自杀的念头吗？
        你是不是想自杀？
        你想过死吗？
        你有没有不想活的想法？
        你说“消失”，是想死的意思吗？
        最近有没有想过轻生？
        难受到这个程度，你会不会觉得活不下去？
        我直接问你，因为我在乎你，你想结束生命吗？
        你现在有想死的感觉吗？
        你有没有想过一死了之？
        你有了结自己生命的打算吗？
        这些念头里，有没有包括自杀？
        你想过不想再活下去吗？
        上次见面以后，还有想自杀的时候吗？
        你会想到用死来结束这一切吗，也就是自杀？
        你是在告诉我，你不想活了吗？
        有没有那么一刻，你真的想去死？
        你有过寻死的想法吗？
        你是不是在考虑结束自己的生命？
    """,
    ("zh", "self_harm"): """
        你有没有伤害自己？
        你会自残吗？
        你最近有自伤的行为吗？
        难受的时候，你会不会弄伤自己？
        你伤害过自己吗？
        你是不是在伤害你自己？
        昨晚你有没有让自己受伤？
        现在有没有想伤害自己的冲动？
        我想直接问你，你有自我伤害吗？
        这些伤，是你弄伤自己留下的吗？
        你想伤害自己吗？
        这个星期你有没有自残过？
        你说忍不住，是忍不住要伤害自己吗？
        你会让自己疼来缓解吗？
        你最近一次伤害自己是什么时候？
        除了难过，你有没有想要弄疼自己？
        有没有伤害到自己？
        你现在离伤害自己有多近？
        一个人的时候，你会自伤吗？
        是不是又伤害自己了？
    """,
    ("zh", "harm_to_others"): """
        你想伤害他吗？
        你在想伤害别人吗？
        你有没有想过要杀了他？
        你会动手吗？
        你是不是想报复他？
        你觉得自己快要去伤害那个人了吗？
        你有伤人的念头吗？
        生气的时候，你会不会打伤别人？
        你说让他付出代价，是想伤害他吗？
        你有没有伤害过谁？
        你打算攻击他吗？
        你担心自己会伤到孩子吗？
        今天有没有想去伤害谁？
        你是不是想对他使用暴力？
        你想杀人吗？
        我直接问你，你有想伤害同事的想法吗？
        有没有哪一刻你差点动手？
        你会不会伤害她？
        你想过弄伤他吗？
        这种想伤害别人的念头多久了？
    """,
    ("zh", "abuse"): """
        有人在伤害你吗？
        他打你吗？
        他有没有打过你？
        有人威胁你吗？
        你在家里安全吗？
        你怕他吗？
        你是不是被家暴？
        他有没有强迫过你？
        有没有人对你动手？
        你被打过吗？
        你说他脾气不好，他会动手打你吗？
        家里有人虐待你吗？
        回家以后，你安全吗，家里安全吗？
        他会不会吓唬你、威胁你？
        有谁欺负你吗？
        你害怕回家吗，是不是怕他？
        有没有人侵犯过你？
        他是不是一直在控制你？
        你有没有遭到家庭暴力？
        他做过让你害怕的事吗？
    """,
}
BAD: Mapping[tuple[str, Danger], str] = {
    ("en", "suicide"): """
        Are you okay?
        Do you have dark thoughts?
        Are you thinking of doing something silly?
        You aren't thinking of killing yourself, are you?
        What do you mean by that?
        I hope you are not suicidal. How was your week?
        Do you feel like you can't go on?
        Suicide is a serious matter. What did you have for breakfast?
        Tell me whether you think of killing yourself.
        You wouldn't end your life, would you?
    """,
    ("en", "self_harm"): """
        Are you all right?
        What do you do when it gets too much?
        You don't hurt yourself, do you?
        How do you cope?
        What happened to your arm?
        I know that some people self-harm. How is your sleep?
        Do you take care of yourself?
        Do you do anything you regret?
        You haven't hurt yourself, I hope. How was work?
        Is it something you do on your own?
    """,
    ("en", "harm_to_others"): """
        Are you angry with him?
        What would you like to do?
        You wouldn't hurt anyone, would you?
        Do you think about hurting yourself?
        How do you calm down?
        Are you going to do something you regret?
        I see that he has hurt you. What then?
        Do you want to talk about your anger?
        Nobody should harm another. Do you agree?
        What do you plan for tonight?
    """,
    ("en", "abuse"): """
        How are things at home?
        Do you get along with him?
        Is he a difficult man?
        What was the argument about?
        Nobody hurts you, I hope. How are the children?
        He doesn't hit you, and you don't argue, do you?
        Tell me whether he hurts you.
        What did you do then?
        Is there stress in the family?
        How does he take it?
    """,
    ("zh", "suicide"): """
        你还好吗？
        你是不是想做傻事？
        你不会是想自杀吧？
        你说的“走”是什么意思？
        你应该没有想死吧？
        希望你没有自杀的想法。这周过得怎么样？
        你是不是觉得很累？
        自杀是很严重的事。你早饭吃了吗？
        你有没有不好的想法？
        最近心情怎么样？
    """,
    ("zh", "self_harm"): """
        你还好吗？
        难受的时候你会做什么？
        你没有伤害自己吧？
        你的手怎么了？
        你有没有照顾好自己？
        你是怎么熬过来的？
        有些人会自残。你睡得好吗？
        你会不会做一些冲动的事？
        你是不是又那样了？
        袖子为什么放下来了？
    """,
    ("zh", "harm_to_others"): """
        你很生他的气吗？
        你想怎么办？
        你不会伤害他吧？
        你有没有伤害自己？
        你会做让自己后悔的事吗？
        他伤害了你，然后呢？
        你打算今晚做什么？
        你怎么让自己平静下来？
        你是不是很恨他？
        你们吵起来了吗？
    """,
    ("zh", "abuse"): """
        家里怎么样？
        你们合得来吗？
        他是不是脾气不好？
        他没有打你吧？
        你们为什么吵架？
        家庭暴力是不对的。你们结婚几年了？
        最近家里压力大吗？
        他喝酒吗？
        后来呢？
        你跟他说了什么？
    """,
}


def lines(some: Mapping[tuple[str, Danger], str]) -> list[tuple[str, Danger, str]]:
    return [
        (language, kind, line.strip())
        for (language, kind), text in some.items()
        for line in text.strip().splitlines()
    ]


def problem(language: str, kind: Danger, line: str) -> str | None:
    by_name = tuple(words(language)["steps"]["ask_directly"]["must"][kind])
    return Wanted(language=language, asks=by_name, such_as=("it", "that")).problem(line)


def test_there_are_twenty_and_ten_of_each() -> None:
    assert len(lines(GOOD)) == 8 * 20 and len(lines(BAD)) == 8 * 10


@each(("language", "kind", "line"), lines(GOOD))
def test_a_plain_question_is_taken(language: str, kind: Danger, line: str) -> None:
    assert problem(language, kind, line) is None


@each(("language", "kind", "line"), lines(BAD))
def test_what_does_not_ask_by_name_is_not(language: str, kind: Danger, line: str) -> None:
    assert (problem(language, kind, line) or "").startswith("the line must ask plainly")


def test_a_chinese_line_is_complained_of_in_chinese() -> None:
    told = complained(
        "the line must ask plainly and by name about 想结束自己的生命, as “你有自杀的想法吗？” does",
        "zh",
    )
    assert told == "这句话必须直接、点明地问（想结束自己的生命），就像“你有自杀的想法吗？”那样"
