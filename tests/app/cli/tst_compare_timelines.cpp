// SPDX-License-Identifier: GPL-3.0-or-later
// `compare --timeline`, run as a script would run it: one page about two plans, nothing of it from elsewhere.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QRegularExpression>
#include <QTemporaryDir>

#include <nlohmann/json.hpp>

using namespace trainyard::test;
using nlohmann::json;

namespace {

/// What stands between <li> and </li>, with its escapes resolved.
QStringList listItems(const QString &page)
{
    QStringList items;
    static const QRegularExpression item(QStringLiteral("<li>(.*?)</li>"));
    for (auto at = item.globalMatch(page); at.hasNext();) {
        QString text = at.next().captured(1);
        text.replace(QLatin1String("&lt;"), QLatin1String("<")).replace(QLatin1String("&gt;"), QLatin1String(">"));
        text.replace(QLatin1String("&quot;"), QLatin1String("\"")).replace(QLatin1String("&#39;"), QLatin1String("'"));
        items.append(text.replace(QLatin1String("&amp;"), QLatin1String("&")));
    }
    return items;
}

} // namespace

class TstCompareTimelines : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    json m_plan;

    QString file(const QString &name) const { return m_folder.filePath(name); }
    QString write(const QString &name, const QByteArray &bytes) const
    {
        QFile out(file(name));
        return out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() ? out.fileName() : QString();
    }
    QString write(const QString &name, const json &content) const
    {
        return write(name, QByteArray::fromStdString(content.dump()));
    }
    QString read(const QString &path) const
    {
        QFile in(path);
        return in.open(QIODevice::ReadOnly) ? QString::fromUtf8(in.readAll()) : QString();
    }
    json variant(const char *name, int microBatches, const char *schedule = "1f1b") const
    {
        json plan = m_plan;
        plan["name"] = name;
        plan["schedule"] = schedule;
        plan["workload"]["global_batch"] = microBatches;
        return plan;
    }
    QString session(const QString &name, const std::vector<json> &plans) const
    {
        json content { { "format", "trainyard.session" }, { "version", 1 } };
        for (std::size_t i = 0; i < plans.size(); ++i)
            content["variants"].push_back(
                { { "id", "v" + std::to_string(i + 1) }, { "name", plans[i]["name"] }, { "plan", plans[i] } });
        return write(name, content);
    }

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_plan = json::parse(R"({ "format": "trainyard.plan", "version": 1,
            "cluster": { "datacenters": [ { "id": "a", "pools": [ { "id": "p", "gpu": "a100-sxm-80gb", "nodes": 4,
                "gpus_per_node": 1 } ] } ] },
            "workload": { "model": "gpt-3-1.3b", "sequence_length": 2048, "global_batch": 8 },
            "parallelism": { "pipeline": 4, "data": 1 }, "stack": "ideal",
            "profile": { "forward_ms": 10, "backward_ms": 20 } })");
    }

    void thePageHoldsBothPlansAndNothingFromElsewhere()
    {
        const QString a = write("a.json", variant("First & best", 8)),
                      b = write("b.json", variant("Second", 8, "gpipe"));
        const Answer answer = run(words("compare --timeline") << file("out.html") << a << b);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QVERIFY(answer.out.find("Second differs from") != std::string::npos); // the table as ever
        const QString page = read(file("out.html"));
        QVERIFY(page.startsWith(QLatin1String("<!DOCTYPE html>")) && page.endsWith(QLatin1String("</html>\n")));
        QVERIFY(page.contains(QLatin1String("<h1>First &amp; best and Second</h1>")));
        QVERIFY(
            !page.contains(QRegularExpression(QStringLiteral("https?://|<script|<link|src=|href=|url\\(|@import"))));
        QVERIFY(page.contains(QLatin1String("prefers-color-scheme: dark")));
        QVERIFY(page.contains(QLatin1String("@media print")));
        QCOMPARE(page.count(QLatin1String("aria-label=\"Timeline of one iteration\"")), 2);
        QCOMPARE(page.count(QLatin1String("aria-label=\"Where the two timelines differ\"")), 1);
        QVERIFY(QDir(m_folder.path()).entryList({ QStringLiteral("*.part*") }).isEmpty());
    }

    void thePageSaysInWordsWhatJsonSays()
    {
        json second = variant("Second", 8, "gpipe");
        second["workload"]["sequence_length"] = 4096;
        second["cluster"]["datacenters"][0]["name"] = "Oslo <1>";
        const QString a = write("a.json", variant("First", 8)), b = write("b.json", second);
        const Answer answer = run(words("compare --format json --timeline") << file("out.html") << a << b);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QStringList told;
        const json plans = json::parse(answer.out)["plans"];
        for (const auto &sentence : plans[1]["differences"])
            told.append(QString::fromStdString(sentence.get<std::string>()));
        QVERIFY(told.size() >= 4);
        QCOMPARE(listItems(read(file("out.html"))), told);
    }

    void otherShapesAreComparedByStageAndKind()
    {
        const QString a = write("a.json", variant("First", 8)), b = write("b.json", variant("Second", 9));
        QCOMPARE(run(words("compare --timeline") << file("out.html") << a << b).exitCode, 0);
        const QString page = read(file("out.html"));
        QVERIFY(page.contains(QLatin1String("9 micro-batches per replica instead of 8: spans are not matched")));
        // A micro-batch of 10 ms forward, on the one GPU of each of four stages.
        QVERIFY2(page.contains(QString::fromUtf8("<td>forward</td><td>0.32 GPU\u00b7s</td><td>0.36 GPU\u00b7s</td>"
                                                 "<td>+0.04 GPU\u00b7s</td>")),
            qPrintable(page.mid(page.indexOf(QLatin1String("<td>forward</td>")), 200)));
    }

    void aRangeCutsBothTimelines()
    {
        const QString a = write("a.json", variant("First", 8)), b = write("b.json", variant("Second", 8, "gpipe"));
        const Answer answer = run(words("compare --range 0.1..0.2 --timeline") << file("out.html") << a << b);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const QString page = read(file("out.html"));
        QVERIFY(page.contains(QLatin1String("100 ms to 200 ms of the iteration")));
        QCOMPARE(page.count(QLatin1String(">150 ms</text>")), 3); // the same axis over all three pictures
        QVERIFY(!page.contains(QLatin1String(">250 ms</text>")));
        for (const char *wrong : { "0.2..0.1", "0.1", "..", "a..b", "-1..2", "0.1..inf2", "nan..1" }) {
            const Answer refused = run(words("compare --timeline")
                << file("no.html") << QStringLiteral("--range=") + QLatin1String(wrong) << a << b);
            QCOMPARE(refused.exitCode, 2);
            QVERIFY2(refused.err.contains(QLatin1String("--range")), qPrintable(refused.err));
        }
        const Answer alone = run(words("compare --range 0.1..0.2") << a << b);
        QCOMPARE(alone.exitCode, 2);
        QVERIFY2(alone.err.contains(QLatin1String("--timeline")), qPrintable(alone.err));
        QVERIFY(!QFile::exists(file("no.html")));
    }

    void ofASessionTwoVariantsAreSetBesideEachOther()
    {
        const QString two = session("two.trainyard-session", { variant("One", 8), variant("Two", 8, "gpipe") });
        QCOMPARE(run(words("compare --timeline") << file("two.html") << two).exitCode, 0);
        QVERIFY(read(file("two.html")).contains(QLatin1String("<h1>One and Two</h1>")));
        const QString three =
            session("three.trainyard-session", { variant("One", 8), variant("Two", 8, "gpipe"), variant("Three", 16) });
        const QString out = write("three.html", QByteArray("older"));
        const Answer refused = run(words("compare --timeline") << out << three);
        QCOMPARE(refused.exitCode, 2);
        QVERIFY2(refused.err.contains(QLatin1String("--variant NAME twice")), qPrintable(refused.err));
        QCOMPARE(read(out), QStringLiteral("older"));
        const Answer named =
            run(words("compare --format json --variant Three --variant v2 --timeline") << out << three);
        QVERIFY2(named.exitCode == 0, qPrintable(named.err));
        QVERIFY(read(out).contains(QLatin1String("<h1>Three and Two</h1>")));
        QCOMPARE(json::parse(named.out)["plans"].size(), std::size_t(2));
        const Answer absent = run(words("compare --variant Four --variant One") << three);
        QCOMPARE(absent.exitCode, 2);
        QVERIFY2(absent.err.contains(QLatin1String("One, Two, Three")), qPrintable(absent.err));
        const QString plan = write("a.json", variant("First", 8));
        QCOMPARE(run(words("compare --variant One") << plan << plan).exitCode, 2);
    }

    void whatCannotBeWrittenIsNamed()
    {
        const QString a = write("a.json", variant("First", 8)), b = write("b.json", variant("Second", 8, "gpipe"));
        const Answer absent = run(words("compare --timeline") << file("absent/out.html") << a << b);
        QCOMPARE(absent.exitCode, 2);
        QVERIFY2(absent.err.contains(QLatin1String("absent/out.html")), qPrintable(absent.err));
        const QString before = read(b);
        const Answer input = run(words("compare --timeline") << b << a << b);
        QCOMPARE(input.exitCode, 2);
        QVERIFY2(input.err.contains(QLatin1String("--timeline")), qPrintable(input.err));
        QCOMPARE(read(b), before);
    }
};

TRAINYARD_APPLESS_TEST(TstCompareTimelines)
#include "tst_compare_timelines.moc"
