"""lsp.py GNNCC GNNDATA: an editor that speaks to `gnncc --lsp`. TAP on stdout."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

gnncc, gnndata = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
count = failed = 0


def check(name, is_right, said=""):
    global count, failed
    count += 1
    failed += not is_right
    print(("ok" if is_right else "not ok"), count, "-", name)
    if not is_right:
        for line in str(said).splitlines()[:20]:
            print("#", line)


class Server:
    def __init__(self, *options, folder="."):
        self.process = subprocess.Popen([gnncc, "--lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self.last_id = 0
        self.notices = []

    def send_bytes(self, body):
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def send(self, **message):
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def receive(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            assert line, "the server has ended"
            if line == b"\r\n":
                break
            name, value = line.split(b":")
            if name == b"Content-Length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def answer(self, wanted):
        while True:
            message = self.receive()
            if "id" in message and "method" not in message:
                assert message["id"] == wanted, message
                return message
            self.notices.append(message)

    def raw(self, method, params=None):
        self.last_id += 1
        self.send(id=self.last_id, method=method, params=params or {})
        return self.answer(self.last_id)

    def ask(self, method, params=None):
        message = self.raw(method, params)
        assert "error" not in message, message
        return message["result"]

    def tell(self, method, params=None):
        self.send(method=method, params=params or {})

    def diagnostics(self):
        message = self.receive()
        assert message["method"] == "textDocument/publishDiagnostics", message
        return message["params"]["diagnostics"]

    def start(self):
        result = self.ask("initialize", {"capabilities": {}})
        self.tell("initialized")
        return result

    def end(self, says_shutdown=True):
        if says_shutdown:
            self.ask("shutdown")
        self.tell("exit")
        return self.process.wait(timeout=60)


class Text:
    """A document that is open in the server."""

    def __init__(self, server, path, text):
        self.server, self.uri, self.text, self.version = server, path.as_uri(), text, 1
        server.tell("textDocument/didOpen", {"textDocument": {"uri": self.uri, "languageId": "gnn", "version": 1, "text": text}})
        self.wrong = server.diagnostics()

    def change(self, text):
        self.text, self.version = text, self.version + 1
        self.server.tell("textDocument/didChange", {"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": [{"text": text}]})
        self.wrong = self.server.diagnostics()
        return self.wrong

    def position(self, word, occurrence=0, inside=0):
        """Of the word, as the protocol counts: lines, and UTF-16 units."""
        at = -1
        for _ in range(occurrence + 1):
            at = self.text.index(word, at + 1)
        line = self.text.count("\n", 0, at)
        before = self.text[self.text.rfind("\n", 0, at) + 1:at + inside]
        return {"line": line, "character": len(before.encode("utf-16-le")) // 2}

    def ask(self, method, *where, **how):
        params = {"textDocument": {"uri": self.uri}}
        if where:
            params["position"] = self.position(*where, **how)
        return self.server.ask("textDocument/" + method, params)

    def hover(self, *where, **how):
        result = self.ask("hover", *where, **how)
        return result["contents"]["value"] if result else ""

    def marked(self, item):
        """What a range of one line stands for."""
        start, end = item["range"]["start"], item["range"]["end"]
        line = self.text.split("\n")[start["line"]].encode("utf-16-le")
        return line[2 * start["character"]:2 * end["character"]].decode("utf-16-le")


program = """import "parts/own.gnn"
option lr = 0.01 "learning rate"
const hidden = 16
data karate from karate() {
  node y : class[4]
}
layer Mix(a : node[f], b : node[f], share = 0.5) {
  "Both, by shares."
  both = share * a + (1 - share) * b
  return both
}
model m on karate {
  h = x |> GCN(hidden) as conv1 |> relu
  for i in 1 .. 2 { h = h |> SAGE(8 * i) as convs |> relu }
  g = Mix(h, Own(h, 16)) |> Linear(hidden) as mixed
  e = src.g - dst.g
  return g + mean(e) |> Linear(y.classes) as head
}
train m {
  loss = cross_entropy(out, y)
  optimizer = adam(lr = lr)
  epochs = 10
}
"""

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name).resolve() / "a folder"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts/own.gnn").write_text("layer Own(x : node[f], out) { return Linear(x, out) as lin }\n")
    path = folder / "m.gnn"
    path.write_text(program)

    server = Server()
    early = server.raw("textDocument/hover")
    check("a request before initialize is refused", early.get("error", {}).get("code") == -32002, early)
    said = server.start()
    offered = said["capabilities"]
    check("initialize: what it can do", offered["hoverProvider"] and offered["completionProvider"] and offered["definitionProvider"] and offered["codeActionProvider"] and offered["textDocumentSync"]["change"] == 1
          and said["serverInfo"]["name"] == "gnncc", said)

    # ---- diagnostics ----
    d = Text(server, path, program)
    check("a program that is right has no diagnostics", d.wrong == [], d.wrong)
    wrong = d.change(program.replace("as conv1 |> relu", "as conv1 |> relus"))
    check("a misspelt function: code, severity, place", len(wrong) == 1 and wrong[0]["code"] == "E0201" and wrong[0]["severity"] == 1 and d.marked(wrong[0]) == "relus"
          and "did you mean relu" in wrong[0]["message"], wrong)
    where = {"textDocument": {"uri": d.uri}, "range": wrong[0]["range"], "context": {"diagnostics": wrong}}
    actions = server.ask("textDocument/codeAction", where)
    edits = actions[0]["edit"]["changes"][d.uri] if len(actions) == 1 else []
    check("  the word that was meant is an action, and mends it", len(edits) == 1 and actions[0]["title"] == "change to relu" and actions[0]["kind"] == "quickfix" and edits[0]["newText"] == "relu"
          and d.marked(edits[0]) == "relus", actions)
    check("  elsewhere there is none", server.ask("textDocument/codeAction", dict(where, range={"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}})) == [])
    wrong = d.change(program.replace("(hidden) as conv1", "(hidden"))
    check("a text that does not parse", len(wrong) >= 1 and wrong[0]["severity"] == 1 and wrong[0]["range"]["start"]["line"] in (12, 13), wrong)
    check("  hover and completion answer from the last one that did", "GCN : node[hidden=16]" in d.hover("GCN") and any(i["label"] == "conv1" for i in d.ask("completion", "return g")["items"]), d.hover("GCN"))
    wrong = d.change(program.replace("mean(e)", "mean(e, axis = 0)"))
    check("an error of the checker has its help", len(wrong) == 1 and wrong[0]["code"] == "E0326" and d.marked(wrong[0]) == "0", wrong)
    wrong = d.change(program.replace("as head", "as head |> softmax"))
    check("a warning is one", len(wrong) == 1 and wrong[0]["code"] == "W0315" and wrong[0]["severity"] == 2, wrong)
    wrong = d.change(program.replace("const hidden = 16", 'option drop = 0.5 "\U0001F642 of the input"; const hidden = nosuch'))
    check("columns count in UTF-16", any(d.marked(w) == "nosuch" for w in wrong), wrong)
    (folder / "parts/own.gnn").write_text("layer Own(x : node[f], out) { return Linear(x, out) as lin as lin2 }\n")
    wrong = d.change(program)
    check("a mistake in an import is told, with its place", any("own.gnn:1" in w["message"] or d.marked(w) == "Own" for w in wrong), wrong)
    (folder / "parts/own.gnn").write_text("layer Own(x : node[f], out) { return Linear(x, out) as lin }\n")
    check("  and gone when it is mended", d.change(program) == [], d.wrong)

    # ---- hover ----
    h = d.hover("h = x")
    check("hover: shape and bytes of a value", "h : node[hidden=16]" in h and "34 x 16 numbers, 2.1 KiB" in h, h)
    h = d.hover("GCN", inside=1)
    check("  of what a layer gives, from inside its name", "GCN : node[hidden=16]" in h and "2.1 KiB" in h, h)
    h = d.hover("SAGE")
    check("  in a loop, of each turn", "node[out=8]" in h.replace("8 * i", "out") or ("8]" in h and "16]" in h), h)
    h = d.hover("e = src")
    check("  on edges", "e : edge[" in h and "156 x 16 numbers, 9.8 KiB" in h, h)
    h = d.hover("x |> GCN")
    check("  of a field", "x : node[34]" in h and "34 x 34 numbers" in h, h)
    h = d.hover("y : class")
    check("  of labels", "class[4]" in h, h)
    h = d.hover("both")
    check("  in a layer of one's own", "both : node[" in h and "16" in h, h)
    h = d.hover("hidden)")
    check("  of a constant", "const hidden = 16" in h, h)
    h = d.hover("lr)")
    check("  of an option", 'option lr = 0.01  learning rate' in h, h)
    h = d.hover("Mix(h")
    check("  of a layer: its arguments and what it says", "layer Mix(a : node[f], b : node[f], share = 0.5)" in h and "Both, by shares." in h, h)
    h = d.hover("relu")
    check("  of a function", "relu : node[" in h and "max(x, 0)" in h, h)
    h = d.hover("epochs")
    check("  of a setting", "train setting" in h, h)
    check("  of nothing", d.hover("|> GCN") == "", d.hover("|> GCN"))

    # ---- completion ----
    labels = {item["label"]: item for item in d.ask("completion", "return g")["items"]}
    check("completion: values, weights, fields, constants, layers, functions, words", all(w in labels for w in
          ["h", "g", "e", "conv1", "x" if "x" in labels else "y", "hidden", "lr", "Mix", "Own", "GAT", "relu", "cross_entropy", "return", "epochs"]), sorted(labels))
    scanner = pathlib.Path(__file__).resolve().parents[2] / "lang/scan.l"
    keywords = re.findall(r'^"([a-z]+)" *\{ return TOK_', scanner.read_text(), re.M)
    check("  every word of the scanner", len(keywords) >= 20 and all(word in labels for word in keywords), set(keywords) - set(labels))
    check("  each once", len(labels) == len(d.ask("completion", "return g")["items"]))
    check("  with what they are", "GAT(x" in labels["GAT"]["detail"] and "Velickovic" in labels["GAT"]["documentation"] and labels["hidden"]["detail"] == "const hidden = 16", labels["GAT"])
    labels = [item["label"] for item in d.ask("completion", "both = share")["items"]]
    check("  in a layer its own names, not those of the model", "share" in labels and "both" in labels and "conv1" not in labels, labels)

    # ---- definition ----
    def defined(*where, **how):
        result = d.ask("definition", *where, **how)
        return result and (result["uri"].rsplit("/", 1)[1], result["range"]["start"]["line"], result["range"]["start"]["character"])

    check("definition: of a value, where it was set last", defined("h, Own") == ("m.gnn", 13, 20), defined("h, Own"))
    check("  of a value where it is set anew", defined("h |> SAGE") == ("m.gnn", 12, 2), defined("h |> SAGE"))
    check("  of a constant", defined("hidden) as conv1") == ("m.gnn", 2, 6), defined("hidden) as conv1"))
    check("  of an option", defined("lr)") == ("m.gnn", 1, 7), defined("lr)"))
    check("  of a field", defined("y.classes") == ("m.gnn", 4, 7), defined("y.classes"))
    check("  of an argument", defined("share * a") == ("m.gnn", 6, 36), defined("share * a"))
    check("  of a layer of one's own", defined("Mix(h") == ("m.gnn", 6, 6), defined("Mix(h"))
    check("  of one that is imported", defined("Own(h") == ("own.gnn", 0, 6), defined("Own(h"))
    check("  of a standard layer", defined("GCN") is not None and defined("GCN")[0] == "gcn.gnn", defined("GCN"))
    check("  of an import", defined("parts/own") == ("own.gnn", 0, 0), defined("parts/own"))
    check("  of the data of a model", defined("karate {") == ("m.gnn", 3, 5), defined("karate {"))
    check("  of what has none", defined("relu") is None, defined("relu"))

    # ---- layout ----
    edits = d.ask("formatting")
    laid_out = subprocess.run([gnncc, "--format", "-"], input=program, capture_output=True, text=True).stdout
    check("formatting: as gnncc --format", len(edits) == 1 and edits[0]["newText"] == laid_out, edits)
    d.change(laid_out)
    check("  of what is laid out already nothing", d.ask("formatting") == [])

    # ---- data ----
    subprocess.run([gnndata, "synth", "sbm", folder / "web.safetensors", "--nodes", "50", "--degree", "4", "--features", "6", "--classes", "3"], check=True, capture_output=True)
    web = 'data web from "web.safetensors" {\n  node y : class[3]\n}\nmodel m on web {\n  h = x |> GCN(4) as conv\n  return h |> GCN(y.classes) as head\n}\n'
    w = Text(server, folder / "web.gnn", web)
    check("data beside the model are read", w.wrong == [] and "50 x 4 numbers" in w.hover("h = x"), w.wrong)
    (folder / "web.safetensors").rename(folder / "away")
    check("  and not again with every letter", w.change(web.replace("GCN(4)", "GCN(5)")) == [] and "50 x 5 numbers" in w.hover("h = x"), w.wrong)
    server.tell("textDocument/didSave", {"textDocument": {"uri": w.uri}})
    w.wrong = server.diagnostics()
    check("  but when the text is saved", len(w.wrong) == 1 and w.wrong[0]["code"] == "E0001" and w.marked(w.wrong[0]).startswith('"web'), w.wrong)
    check("  or its block is another", w.change(web.replace("class[3]\n", "class[3]\n  undirected = true\n"))[0]["code"] == "E0001", w.wrong)
    (folder / "away").rename(folder / "web.safetensors")
    check("  and found when they are there again", w.change(web) == [], w.wrong)

    # ---- the protocol ----
    server.tell("textDocument/didClose", {"textDocument": {"uri": w.uri}})
    check("a document that is closed has no diagnostics", server.diagnostics() == [])
    check("  and no answers", server.ask("textDocument/hover", {"textDocument": {"uri": w.uri}, "position": {"line": 0, "character": 0}}) is None)
    unknown = server.raw("textDocument/nosuch")
    check("an unknown method", unknown.get("error", {}).get("code") == -32601, unknown)
    server.send_bytes(b"{ this is none")
    broken = server.answer(None)
    check("a message that is no JSON", broken["error"]["code"] == -32700, broken)
    server.tell("$/setTrace", {"value": "off"})
    beyond = server.ask("textDocument/hover", {"textDocument": {"uri": d.uri}, "position": {"line": 100000, "character": 100000}})
    below = server.ask("textDocument/definition", {"textDocument": {"uri": d.uri}, "position": {"line": -5, "character": -5}})
    check("positions that are nowhere", beyond is None and (below is None or below), (beyond, below))
    server.ask("shutdown")
    late = server.raw("textDocument/hover", {"textDocument": {"uri": d.uri}, "position": {"line": 0, "character": 0}})
    check("nothing after shutdown", late.get("error", {}).get("code") == -32600, late)
    check("exit after shutdown", server.end(says_shutdown=False) == 0)

    server = Server()
    server.start()
    check("exit without shutdown", server.end(says_shutdown=False) == 1)
    server = Server()
    server.process.stdin.close()
    check("an editor that is gone", server.process.wait(timeout=60) == 1)
    server = Server("-D", "hidden=32", "--shapes")
    server.start()
    d = Text(server, path, program.replace("karate from karate() {", "karate {\n  nodes = 1000\n  edges = 5000\n  node x : f32[7]"))
    h = d.hover("h = x")
    check("options of the command line: -D, --shapes", d.wrong == [] and "1,000 x 32 numbers, 125.0 KiB" in h, (d.wrong, h))
    server.end()

print(f"1..{count}")
sys.exit(failed != 0)
