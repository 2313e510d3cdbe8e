// SPDX-License-Identifier: GPL-3.0-or-later
// YAML, JSON and TOML as one tree: what the two libraries read is compared with the same settings written plainly, and
// files that are cut or made to grow stay bounded.
#include "core/runs/telemetry/readers/settings_tree.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTest>
#include <map>

using namespace trainyard;
using namespace trainyard::readers;

namespace {

using Flat = std::map<std::string, std::string>;

Flat flat(const Expected<SettingsTree> &tree)
{
    Flat all;
    if (tree)
        walkSettings(tree->root, [&](const std::string &path, const SettingsNode &node) { all[path] = node.value(); });
    return all;
}

} // namespace

class TestSettingsTree : public QObject {
    Q_OBJECT

private slots:
    void aliasesMergesAndFlowMapsAreTheSettingsWrittenOut()
    {
        const Flat folded = flat(yamlSettings("base: &b {tp: 2, pp: 4}\nother: &o\n  dp: 3\n  pp: 9\nrun:\n"
                                              "  <<: [*b, *o]\n  tp: 8\nagain: *b\n"));
        const Flat plain = flat(yamlSettings("base:\n  tp: 2\n  pp: 4\nother:\n  dp: 3\n  pp: 9\nrun:\n"
                                             "  tp: 8\n  pp: 4\n  dp: 3\nagain:\n  tp: 2\n  pp: 4\n"));
        QCOMPARE(folded, plain);
    }

    /// toml++ 3.3 has no answer whether these are blanks.
    void lettersOfEveryBlockMayStandWhereTomlExpectsABlank()
    {
        for (char32_t letter = 0x80; letter < 0x11000; letter += letter < 0xfa00 || letter > 0xff00 ? 97 : 1) {
            if (letter >= 0xd800 && letter < 0xe000)
                continue;
            const std::string text = QString::fromUcs4(&letter, 1).toStdString();
            const Flat inText = flat(tomlSettings("name = \"" + text + "\"\n"));
            QCOMPARE(inText.at("name"), text);
            const auto bare = tomlSettings("n = 1\n" + text + " n2 = 2\n");
            QVERIFY(!bare || flat(bare).count("n2") == 0 || letter == 0xa0 || letter == 0x3000 || letter == 0xfeff);
        }
    }

    void jsonYamlAndTomlOfTheSameSettingsAreEqual()
    {
        const Flat expected { { "a.b", "True" }, { "a.list", "[1, 2]" }, { "a.text", "x # y" }, { "n", "8192" },
            { "rows.0.k", "1" }, { "rows.1.k", "2" } };
        QCOMPARE(flat(yamlSettings("a:\n  b: true\n  list:\n  - 1\n  - 2\n  text: 'x # y' # a comment\nn: 8192\nrows:\n"
                                   "  - k: 1\n  - k: 2\n")),
            expected);
        QCOMPARE(
            flat(yamlSettings("{\"a\": {\"b\":true, \"list\": [1, 2],\n\t\"text\":\"x # y\"}, \"n\":8192, \"rows\": "
                              "[{\"k\": 1}, {\"k\": 2}]}")),
            expected);
        QCOMPARE(
            flat(tomlSettings("n = 8_192\n[a]\nb = true\nlist = [\n 1, # one\n 2,\n]\ntext = \"x # y\"\n[[rows]]\nk "
                              "= 1\n[[rows]]\nk = 2\n")),
            expected);
        QCOMPARE(
            flat(tomlSettings("n = 8192\na = { b = true, list = [1, 2], text = 'x # y' }\nrows = [{k = 1}, {k = 2}]")),
            expected);
    }

    void textsOfSeveralLinesAreOneValue()
    {
        const Flat yaml = flat(yamlSettings("kept: |\n  one\n  two\nfolded: >-\n  one\n  two\nlast: 1\n"));
        QCOMPARE(yaml, (Flat { { "kept", "one\ntwo\n" }, { "folded", "one two" }, { "last", "1" } }));
        QCOMPARE(flat(tomlSettings("a = \"\"\"\none\ntwo\"\"\"\nb = 1e-8\n")),
            (Flat { { "a", "one\ntwo" }, { "b", "1e-08" } }));
    }

    void nodesKnowTheirLineAndWhetherTheyAreNothing()
    {
        const auto tree = yamlSettings("a: 1\nb:\n  c: ~\n  d: 'null'\n");
        QVERIFY(tree.has_value());
        QCOMPARE(tree->root.find("b.c")->line, 3);
        QVERIFY(tree->root.find("b.c")->isNull() && !tree->root.find("b.d")->isNull());
        QVERIFY(!tree->root.find("b.e") && tree->root.textOf("b.d") == "null");
    }

    void ofACutTextWhatStandsBeforeIsKept()
    {
        const std::string whole = "a: 1\nb:\n  c: 2\nd: {x: 1,\n  y: 2}\ne: \"text\nof two\"\nf: 3\n";
        const Flat all = flat(yamlSettings(whole));
        QCOMPARE(all.size(), std::size_t(6));
        for (std::size_t size = 1; size < whole.size(); ++size)
            if (whole[size - 1] == '\n') { // a half line may be a value of its own
                const auto tree = yamlSettings(whole.substr(0, size));
                QVERIFY2(tree.has_value(), whole.substr(0, size).c_str());
                for (const auto &[path, value] : flat(tree))
                    if (path == "e") // of an open quote what is there
                        QVERIFY(all.at(path).starts_with(value));
                    else
                        QCOMPARE(value, path == "b" ? std::string() : all.at(path));
                QVERIFY(tree->root.find("a"));
            }
        const auto open = yamlSettings("a: 1\nb: 2\nc: {x: 1,\n y: 2,\n");
        QVERIFY(open && open->cutAt == 3);
        QCOMPARE(flat(open), (Flat { { "a", "1" }, { "b", "2" } }));
        const auto toml = tomlSettings("[t]\na = 1\nlist = [\n 1,\n 2");
        QVERIFY(toml && toml->cutAt == 3);
        QCOMPARE(flat(toml), (Flat { { "t.a", "1" } }));
        const auto log = yamlSettings("a: 1\nb:\n  c: 2\n[rank0]: step 3: loss: 4\n");
        QVERIFY(log && log->cutAt == 4);
        QCOMPARE(flat(log), (Flat { { "a", "1" }, { "b.c", "2" } }));
    }

    void aFileMadeToGrowIsRefusedSoon()
    {
        std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
        for (int i = 1; i < 20; ++i) {
            const std::string before = "*a" + std::to_string(i - 1);
            bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
            for (int k = 0; k < 8; ++k)
                bomb += ", " + before;
            bomb += "]\n";
        }
        QElapsedTimer timer;
        timer.start();
        const auto refused = yamlSettings(bomb, "bomb.yaml");
        QVERIFY(!refused && refused.error().what.find("aliases") != std::string::npos);
        for (const char *part : { "[", "{", "- ", "? ", "&a ", "*a ", "a: [\n", "[a,", "\"" }) {
            std::string text = "a = ";
            while (text.size() < 100'000)
                text += part;
            (void)yamlSettings(text.substr(4));
            (void)tomlSettings(text);
        }
        QVERIFY(yamlSettings("a: &x\n  b: *x\n").has_value()); // an alias inside of what it names is nothing
        QVERIFY2(timer.elapsed() < 20'000, std::to_string(timer.elapsed()).c_str());
        QVERIFY(!yamlSettings(std::string(kMostSettingsBytes + 1, 'a')));
    }
};

TRAINYARD_APPLESS_TEST(TestSettingsTree)
#include "tst_settings_tree.moc"
