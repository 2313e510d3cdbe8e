#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists the options that a framework's command line takes, for the tests of `export --to`.

    scripts/parser_flags.py megatron CHECKOUT COMMIT > tests/core/runs/launch/megatron_flags.txt
    scripts/parser_flags.py torchtitan CHECKOUT COMMIT > tests/core/runs/launch/torchtitan_flags.txt

Reads the sources without running them: calls of add_argument with literal names, and the fields of the dataclasses that
both parsers make options from. A line is `--name HOW [CHOICE ...]`, HOW one of switch, one (a value), many (values) and
optional (a value or none).
"""
import ast
import pathlib
import sys


def literal(node):
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None


class Tree:
    def __init__(self, root):
        self.classes, self.modules = {}, []
        for path in sorted(pathlib.Path(root).rglob("*.py")):
            try:
                module = ast.parse(path.read_text())
            except SyntaxError:
                continue
            self.modules.append((path, module))
            self.walk(module, "", path)

    def walk(self, node, prefix, path):
        for child in node.body:
            if isinstance(child, ast.ClassDef):
                name = prefix + child.name
                self.classes.setdefault(name, child)
                self.walk(child, name + ".", path)

    def fields(self, name):
        """(name, annotation, default, metadata) of a dataclass and those that it is made of."""
        made = {}
        node = self.classes[name]
        for base in node.bases:
            own = ast.unparse(base)
            if own in self.classes and own != name:
                made.update(self.fields(own))
        for child in node.body:
            if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
                made[child.target.id] = (child.annotation, child.value)
        return made


def kind_of(annotation):
    """HOW and choices of a value with that annotation."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return kind_of(annotation.left)
    if isinstance(annotation, ast.Subscript):
        outer = ast.unparse(annotation.value).split(".")[-1]
        if outer in ("Optional", "Union"):
            inner = annotation.slice
            return kind_of(inner.elts[0] if isinstance(inner, ast.Tuple) else inner)
        if outer in ("list", "List"):
            return "many", kind_of(annotation.slice)[1]
        if outer == "Literal":
            inner = annotation.slice
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return "one", [str(literal(part)) for part in parts if literal(part) is not None]
        if outer == "Annotated":
            return kind_of(annotation.slice.elts[0])
        return "one", []
    return ("switch", []) if ast.unparse(annotation) == "bool" else ("one", [])


def default_of(value):
    """The default and the metadata of a field."""
    if isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] == "field":
        words = {word.arg: word.value for word in value.keywords}
        meta = {}
        if "metadata" in words and isinstance(words["metadata"], ast.Dict):
            for key, own in zip(words["metadata"].keys, words["metadata"].values):
                if literal(key) == "argparse_meta" and isinstance(own, ast.Dict):
                    meta = {literal(k): v for k, v in zip(own.keys, own.values)}
        is_made = literal(words["init"]) if "init" in words else True
        return words.get("default"), meta, is_made is not False
    return value, {}, True


def how_of_call(words):
    """HOW and choices of keywords of add_argument."""
    action = literal(words["action"]) if "action" in words else None
    if action in ("store_true", "store_false", "store_const", "count", "help"):
        return "switch", []
    choices = literal(words["choices"]) if "choices" in words else None
    choices = [str(choice) for choice in choices] if choices else []
    nargs = literal(words["nargs"]) if "nargs" in words else None
    return ("many" if nargs in ("+", "*") or isinstance(nargs, int) else "optional" if nargs == "?" else "one"), choices


def megatron(tree, found):
    for path, module in tree.modules:
        if path.name != "arguments.py" or path.parent.name != "training":
            continue
        lists = {}
        for node in ast.walk(module):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = literal(node.value)
                if isinstance(value, list):
                    lists[node.targets[0].id] = value
        for node in ast.walk(module):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            words = {word.arg: word.value for word in node.keywords}
            if called.endswith(".add_argument"):
                for name in (literal(argument) for argument in node.args):
                    if not isinstance(name, str) or not name.startswith("--"):
                        continue
                    found[name] = how_of_call(words)
                    if "action" in words and ast.unparse(words["action"]).endswith("BooleanOptionalAction"):
                        found[name] = found["--no-" + name[2:]] = ("switch", [])
            elif called == "ArgumentGroupFactory":
                left_out = words.get("exclude")
                left_out = lists.get(left_out.id, []) if isinstance(left_out, ast.Name) else literal(left_out) or []
                add_fields(tree, ast.unparse(node.args[0]), set(left_out), found)


def add_fields(tree, name, left_out, found):
    for field, (annotation, value) in tree.fields(name).items():
        default, meta, is_made = default_of(value)
        if field in left_out or not is_made or ast.unparse(annotation).startswith("ClassVar"):
            continue
        how, choices = kind_of(annotation)
        flags = ["--" + field.replace("_", "-")]
        if how == "switch" and literal(default) is not False and default is not None:
            flags = [f"--{prefix}-{field.replace('_', '-')}" for prefix in ("no", "disable")]
        if meta:
            flags = literal(meta["arg_names"]) or flags if "arg_names" in meta else flags
            if {"action", "choices", "nargs", "type"} & set(meta):
                own, own_choices = how_of_call(meta)
                how = own if "action" in meta or "nargs" in meta or how == "switch" else how
                choices = own_choices or choices
        for flag in flags:
            found[flag] = (how, choices)


def torchtitan(tree, found):
    """tyro's options of Trainer.Config, a section at a time; of a section that may be one of several, all of them."""
    sections = {"training": ["TrainingConfig"], "parallelism": ["ParallelismConfig"], "compile": ["CompileConfig"],
        "comm": ["CommConfig"], "debug": ["DebugConfig"], "profiler": ["Profiler.Config"],
        "metrics": ["MetricsProcessor.Config"]}
    for field, (annotation, _) in tree.fields("Trainer.Config").items():
        if field not in sections and kind_of(annotation)[0] == "one" and ast.unparse(annotation) in ("str", "int"):
            found["--" + field] = ("one", [])
    for section, classes in sections.items():
        for name in classes:
            for field, (annotation, _) in tree.fields(name).items():
                if "Suppress" in ast.unparse(annotation):
                    continue
                how, choices = kind_of(annotation)
                found[f"--{section}.{field}"] = (how, choices)
                if how == "switch":  # tyro takes --section.no-field too
                    found[f"--{section}.no-{field}"] = (how, choices)
    found["--module"] = found["--config"] = ("one", [])


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("megatron", "torchtitan"):
        sys.exit(__doc__)
    found = {}
    (megatron if sys.argv[1] == "megatron" else torchtitan)(Tree(sys.argv[2]), found)
    print(f"# {sys.argv[1]} {sys.argv[3]}, by scripts/parser_flags.py")
    for name in sorted(found):
        how, choices = found[name]
        print(" ".join([name, how] + (choices if all(c and " " not in c for c in choices) else [])))


if __name__ == "__main__":
    main()
