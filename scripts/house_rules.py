#!/usr/bin/python3
"""Rules that the Swift formatter doesn't know. Reads `swift package dump-package` on standard input.

Prints one line for each violation, FILE:LINE: WHAT, and exits 1 if there is one.
"""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

LINE_LIMIT = 500
DOAP = "doap.xml"
IMPORT = re.compile(
    r"^\s*(?:@\w+\s+|public\s+|package\s+|internal\s+|private\s+|fileprivate\s+)*import\s+"
    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)"
)
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
TO_DO = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")

# Constructs that are never right: pattern, why.
FORBIDDEN = [
    (re.compile(r"\btry!"), "try! hides an error; handle it or let it pass on"),
    (re.compile(r"\bas!"), "as! ends the process on a wrong type; use as? or a type that knows"),
]
FORBIDDEN_IN_SOURCES = [
    (re.compile(r"^\s*(?:@?\w+\s+)*import\s+Foundation\w*"), "Foundation costs megabytes of memory; Glibc and our own targets do"),
    (re.compile(r"\bDispatchQueue\b|^\s*(?:@?\w+\s+)*import\s+Dispatch\b"), "Dispatch starts threads of its own; use EventLoop"),
    (re.compile(r"\bTask\.(?:sleep|yield)\b"), "starts pool threads; set a timer on the loop"),
]
# Constructs that need a comment with their reason: pattern, name, how many lines above it may stand at most.
EXPLAINED = [
    (re.compile(r"@unchecked\s+Sendable"), "@unchecked Sendable", 1),
    (re.compile(r"nonisolated\(unsafe\)"), "nonisolated(unsafe)", 1),
    (re.compile(r"\bfatalError\("), "fatalError", 8),
    # Such a task starts pool threads, unless its closure names an actor.
    (re.compile(r"\bTask(?:\.detached)?\s*\{(?!\s*@)"), "a task without an executor", 8),
]

problems = []


def problem(path, line, text):
    problems.append(f"{path}:{line}: {text}")


def swift_files(folder):
    return sorted(pathlib.Path(folder).rglob("*.swift"))


def code_of(line):
    """The line without strings and comments, near enough."""
    return STRING.sub('""', line).split("//")[0]


def check_constructs(path, lines, in_sources):
    in_text = False  # inside a multi-line string literal
    for number, line in enumerate(lines, 1):
        if TO_DO.search(line):
            problem(path, number, "a note of something to do: do it, or file an issue")
        was_in_text = in_text
        in_text ^= line.count('"""') % 2 == 1
        if was_in_text:
            continue
        code = code_of(line)
        for pattern, why in FORBIDDEN + (FORBIDDEN_IN_SOURCES if in_sources else []):
            if pattern.search(code):
                problem(path, number, f"{pattern.search(code).group().strip()}: {why}")
        for pattern, name, reach in EXPLAINED if in_sources else []:
            if pattern.search(code) and "//" not in line and not has_comment_above(lines, number - 1, reach):
                problem(path, number, f"{name} needs a comment that says why it is right")
    if len(lines) > LINE_LIMIT:
        problem(path, len(lines), f"{len(lines)} lines; the limit is {LINE_LIMIT}")


def has_comment_above(lines, index, reach):
    """Whether one of the `reach` lines before `index` holds a comment, attributes left out of account."""
    above = [line for line in lines[:index] if not line.lstrip().startswith("@")]
    return any("//" in line for line in above[-reach:])


class Graph:
    """The targets as Package.swift declares them: the one source of what may import what."""

    def __init__(self, package):
        self.order = [target["name"] for target in package["targets"]]
        # A system library, or our own CLinux: no Swift, so a capital letter follows the C.
        self.is_c = {name: re.match("C[A-Z]", name) is not None for name in self.order}
        self.folder = {target["name"]: target.get("path") or self.default_folder(target) for target in package["targets"]}
        self.declared = {
            target["name"]: [next(iter(dependency.values()))[0] for dependency in target["dependencies"]]
            for target in package["targets"]
        }

    @staticmethod
    def default_folder(target):
        return ("Tests/" if target["type"] == "test" else "Sources/") + target["name"]

    def reach(self, name):
        """All targets below `name`."""
        found, waiting = set(), list(self.declared[name])
        while waiting:
            target = waiting.pop()
            if target not in found and target in self.declared:
                found.add(target)
                waiting += self.declared[target]
        return found

    def check_order(self):
        for name, dependencies in self.declared.items():
            for dependency in dependencies:
                if dependency in self.order and self.order.index(dependency) > self.order.index(name):
                    problem("Package.swift", 1, f"{name} depends on {dependency}, which comes after it")

    def check_imports(self, name, path, lines):
        for number, line in enumerate(lines, 1):
            match = IMPORT.match(line)
            imported = match and match.group(1)
            if imported not in self.declared or imported == name:
                continue
            if self.is_c[imported]:
                if imported not in self.declared[name]:
                    problem(path, number, f"{name} imports the C library {imported} without declaring it in Package.swift")
            elif imported not in self.reach(name):
                problem(path, number, f"{name} imports {imported}, which is not below it in Package.swift")


def check_doap():
    try:
        document = ElementTree.parse(DOAP)
    except (OSError, ElementTree.ParseError) as error:
        problem(DOAP, 1, str(error))
        return
    rdf = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}resource"
    listed = set()
    for spec in document.iter("{https://linkmauve.fr/ns/xmpp-doap#}xep"):
        listed |= set(re.findall(r"xep-(\d{4})", spec.get(rdf, "")))
    for folder in ("Sources/XMPPStanzas/Payloads", "Sources/XMPPClient/Extensions"):
        for path in swift_files(folder):
            # A file's first mention of a XEP is the one that it implements.
            named = re.search(r"XEP-(\d{4})", path.read_text())
            if named and named.group(1) not in listed:
                problem(DOAP, 1, f"XEP-{named.group(1)} is missing, which {path} implements")


def check_python():
    for path in sorted(p for folder in ("scripts", "Tests") for p in pathlib.Path(folder).rglob("*.py")):
        try:
            compile(path.read_text(), str(path), "exec")
        except SyntaxError as error:
            problem(path, error.lineno, error.msg)


def main():
    graph = Graph(json.load(sys.stdin))
    graph.check_order()
    for name, folder in graph.folder.items():
        for path in swift_files(folder):
            lines = path.read_text().splitlines()
            graph.check_imports(name, path, lines)
    for folder in ("Sources", "Tests", "Examples"):
        for path in swift_files(folder):
            check_constructs(path, path.read_text().splitlines(), folder == "Sources")
    check_doap()
    check_python()
    for line in problems:
        print(line)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
