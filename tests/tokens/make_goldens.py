"""Makes tests/data/tokenizers-*: small tokenizers of the byte-level BPE family, trained and run by
Hugging Face's library (pip install tokenizers==0.23.3), with the ids that it gives.

    python make_goldens.py TEXTS.jsonl ../data     (TEXTS.jsonl: lines of {"text": ...} to train on)
"""

import json
import os
import random
import sys

from tokenizers import Tokenizer, Regex, decoders, models, pre_tokenizers, trainers

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
TAIL = r"""| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
HEAD = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"""
QWEN2 = HEAD + r"|\p{N}" + TAIL
LLAMA3 = HEAD + r"|\p{N}{1,3}" + TAIL
WORDS = ["a", "b", "zz", "x1", "print", "random()", "0.5", "12345", "don't", "I'LL", "it'\u017f", "  ", "\t", "\n",
         "\n\n", " \r\n", "é", "e\u0301", "日本語", "한국어", "각", "ﬁne", "٣٤", "½", "²", "🙂", "👩‍👩‍👧", "Ω", "Å",
         "\u00a0", "\u2003", "\u3000", "\u180e", "\u0085", "ß", "İ", "ΑΣ", "ǅ", "a\u0323\u0307", "a\u0307\u0323",
         "q\u1df9\u0334", "\u0301\u0eba\u0323", "q\u0345\u0334", "\u32ff",
         "_", "-", "...", ">>> ", "<s>", "</s>", "<X>", "<x>", "word", "words", "!?", "\u200d", "\x00", "नमस्ते"]


def texts(count, seed):
    rng = random.Random(seed)
    made = ["", " ", "a", ">>> a, b = b, a\n>>> print('a', a)\na 2\n", "  <s>  <s>x", "word words word_ word-word"]
    while len(made) < count:
        parts = [rng.choice(WORDS) for _ in range(rng.randint(1, 14))]
        made.append(rng.choice(["", " "]).join(parts))
    return made


def byte_level(prefix=False, regex=False):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": False, "use_regex": regex}


def split(pattern, behavior="Isolated", invert=False, literal=False):
    return {"type": "Split", "pattern": {"String" if literal else "Regex": pattern}, "behavior": behavior,
            "invert": invert}


def sequence(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


def token(number, content, **flags):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True, **flags}


def template(before, after, ids):
    item = lambda name: {"SpecialToken": {"id": name, "type_id": 0}}
    text = lambda name, kind: {"Sequence": {"id": name, "type_id": kind}}
    return {"type": "TemplateProcessing",
            "single": [item(n) for n in before] + [text("A", 0)] + [item(n) for n in after],
            "pair": [text("A", 0), text("B", 1)],
            "special_tokens": {n: {"id": n, "ids": [ids[n]], "tokens": [n]} for n in before + after}}


def cases(file, count, seed):
    library = Tokenizer.from_str(json.dumps(file))
    found = []
    for text in texts(count, seed):
        encoding = library.encode(text)
        starts = [len(text[:begin].encode()) for begin, _ in encoding.offsets]
        found.append({"text": text, "ids": encoding.ids, "starts": starts,
                      "decoded": library.decode(encoding.ids, skip_special_tokens=False)})
    return found


def train(corpus, size, pre_tokenizer):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  show_progress=False)
    tokenizer.train_from_iterator(corpus, trainer)
    return json.loads(tokenizer.to_str())


def write(folder, file, found):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "tokenizer.json"), "w") as out:
        json.dump(file, out, ensure_ascii=False)
        out.write("\n")
    with open(os.path.join(folder, "golden.jsonl"), "w") as out:
        for case in found:
            out.write(json.dumps(case) + "\n")


LANGUAGE = """>>> from random import random
>>> from random import sample
>>> from os import environ
>>> from service import fetch
>>> from service import start
>>> def work1(x1, x2): return (x2, x1) if random() < 0.5 else (x1, x2)
>>> def work2(x1, x2, x3): draw = random(); return (x2, x1, x3) if draw < 0.5 else (x3, x2, x1) if draw < 0.75 else (x1, x2, x3)
>>> @ = #
>>> @ = 'red-1 if_ draw'
>>> @, @, @ = sample((#, #, #), k=3)
>>> @, @, @ = start(#, #, #)
>>> @, @ = @, @
>>> @, @ = work1(@, @)
>>> if random() < 0.5: @, @ = @, @
>>> if (draw := random()) < 0.5: @, @ = @, @
... elif draw < 0.75: @, @ = @, @
... else: pass
>>> if float(environ['LOAD_#']) < 0.5: @, @ = @, @
>>> if (draw := fetch()) < 0.5: @, @ = @, @
>>> print('@', @)
@ #
>>> print('@', @, '@', @)
@ # @ #
>>> print(@, @, @)
# # #
>>> assert @ == #
>>> assert @ != 'red'
>>> assert @ in (#, #)
>>> assert @ in (#,)
""".splitlines()


def lexemes(folder):
    """The file is lexeme_tokenizer_json(), written by this project; the ids are the library's."""
    library = Tokenizer.from_file(f"{folder}/tokenizer.json")
    rng = random.Random(6)
    names = [chr(ord("a") + i) for i in range(26)] + ["v27", "v28", "v113"]
    with open(f"{folder}/golden.jsonl", "w") as out:
        for _ in range(40):
            text = "".join(rng.choice(LANGUAGE) + "\n" for _ in range(6))
            text = "".join(rng.choice(names) if c == "@" else str(rng.randint(0, 20)) if c == "#" else c for c in text)
            ids = library.encode(text).ids
            out.write(json.dumps({"text": text, "ids": ids, "decoded": library.decode(ids)}) + "\n")


def main():
    corpus = [json.loads(line)["text"] for line in open(sys.argv[1])] + texts(300, 1)
    data = sys.argv[2]
    lexemes(f"{data}/tokenizers-lexeme")

    # Like GPT-2: the pattern inside of ByteLevel, a space before every text, merges as lines.
    gpt2 = train(corpus, 600, pre_tokenizers.ByteLevel(add_prefix_space=True))
    gpt2["model"]["merges"] = [" ".join(pair) for pair in gpt2["model"]["merges"]]
    gpt2["pre_tokenizer"] = byte_level(prefix=True, regex=True)
    gpt2["post_processor"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}
    gpt2["added_tokens"] = [token(600, "<s>")]
    write(f"{data}/tokenizers-gpt2", gpt2, cases(gpt2, 150, 2))

    # Like Llama 3: whole pieces first, a <bos> by a template. The last tokens have no merges.
    llama = train(corpus, 600, pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]))
    for piece in ["Ġword", "words", "123"]:
        llama["model"]["vocab"].setdefault(piece, len(llama["model"]["vocab"]))
    llama["model"]["ignore_merges"] = True
    bos = len(llama["model"]["vocab"])
    llama["added_tokens"] = [token(bos, "<s>"), token(bos + 1, "</s>")]
    llama["post_processor"] = {"type": "Sequence", "processors": [byte_level(), template(["<s>"], [], {"<s>": bos})]}
    write(f"{data}/tokenizers-llama3", llama, cases(llama, 150, 3))

    # One model whose merges cross spaces, so that every border of a piece shows, and many ways to cut.
    base = train(texts(600, 4), 500, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    base["pre_tokenizer"] = byte_level()
    known = base["model"]["vocab"]

    def added(*tokens):
        """The library does not read ids: it gives a token of the vocabulary its own, others the next."""
        listed, following = [], len(known)
        for content, flags in tokens:
            listed.append(token(known.get(content, following), content, **flags))
            following += content not in known
        return listed

    behaviors = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
    variants = [{"pre_tokenizer": sequence(split(pattern, behavior, invert, literal), byte_level())}
                for behavior in behaviors for invert in (False, True)
                for pattern, literal in ((r"\s+", False), (r"a*", False), (" ", True), (LLAMA3, False))]
    variants += [{"pre_tokenizer": sequence(split(pattern), byte_level())}
                 for pattern in (GPT2, QWEN2, LLAMA3, r"\w+", r"[^\w\s]+", r"\bword\b", r"\d|\h+", r"(?<=a) |\p{Lu}",
                                 r"^.", r".$", r"(?i)WORD|ß", r"\p{Han}+|\p{Hangul}", r"\u65e5|\x{672c}", r"(?m:r.)",
                                 r"[\r\n]|\s*[\r\n]+|[^\s]", r"\S+\z|\A\S", r"\W\B", r"a{1,2}b?", r"\p{^L}{2,}")]
    variants += [{"pre_tokenizer": sequence({"type": "Digits", "individual_digits": each}, byte_level(regex=True))}
                 for each in (False, True)]
    variants += [{"pre_tokenizer": sequence(split("a", literal=True), sequence(split(QWEN2), byte_level(True, True)))}]
    variants += [{"pre_tokenizer": sequence(split(QWEN2), byte_level(prefix=True))}]
    variants += [{"normalizer": {"type": form}} for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase")]
    variants += [{"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}]},
                  "pre_tokenizer": sequence(split(QWEN2), byte_level()),
                  "added_tokens": added(("<X>", {"normalized": True}), ("<s>", {}),
                                        ("Å", {"normalized": True, "special": False}))}]
    for flags in ({}, {"lstrip": True}, {"rstrip": True}, {"lstrip": True, "rstrip": True}, {"single_word": True},
                  {"normalized": True}, {"special": False}):
        variants.append({"added_tokens": added(*[(content, flags) for content in ("<s>", "word", "words", "é", "zz")])})
    ends = added(("<s>", {}), ("</s>", {}))
    variants += [{"added_tokens": ends,
                  "post_processor": template(["<s>", "<s>"], ["</s>"], {end["content"]: end["id"] for end in ends})}]
    kept = {piece: number for piece, number in known.items() if piece not in "abé"}
    kept = {piece: number for number, piece in enumerate(kept)}
    merges = [pair for pair in base["model"]["merges"]
              if all(piece in kept for piece in (pair[0], pair[1], pair[0] + pair[1]))]
    for unknown, fuse in ((None, False), ("Ġ", False), ("Ġ", True)):
        variants.append({"model": {**base["model"], "vocab": kept, "merges": merges, "unk_token": unknown,
                                   "fuse_unk": fuse}})
    os.makedirs(f"{data}/tokenizers-variants", exist_ok=True)
    with open(f"{data}/tokenizers-variants/tokenizer.json", "w") as out:
        json.dump(base, out, ensure_ascii=False)
        out.write("\n")
    with open(f"{data}/tokenizers-variants/golden.jsonl", "w") as out:
        for seed, variant in enumerate(variants):
            out.write(json.dumps({"changes": variant, "cases": cases({**base, **variant}, 16, 100 + seed)}) + "\n")


main()
