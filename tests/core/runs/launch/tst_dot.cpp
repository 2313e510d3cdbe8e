// SPDX-License-Identifier: GPL-3.0-or-later
// The tasks of a timeline as dot: each span once, in the cluster of its stage, an edge from what started it.
#include "tests/core/runs/launch/launch_trial.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>

using namespace trainyard;

namespace {

Plan plan()
{
    Plan made;
    made.name = "a \"quoted\" \\ name\nof two lines";
    made.cluster.datacenters = {
        { .id = "here", .name = "O\"Hare", .pools = { { .id = "p", .gpu = "h100-sxm-80gb", .nodes = 1 } } }
    };
    made.workload.model = "gpt-3-1.3b";
    made.workload.globalBatch = 16;
    made.parallelism = { .tensor = 1, .pipeline = 4, .data = 2 };
    return made;
}

QString textOf(const Evaluation &evaluation, std::size_t most = 20000)
{
    return QString::fromStdString(dotOf(evaluation, most));
}

qsizetype count(const QString &text, const char *pattern)
{
    const QRegularExpression expression(QString::fromUtf8(pattern), QRegularExpression::MultilineOption);
    qsizetype found = 0;
    for (auto at = expression.globalMatch(text); at.hasNext(); at.next())
        ++found;
    return found;
}

} // namespace

class TestDot : public QObject {
    Q_OBJECT
private slots:
    void everySpanIsANodeAndEveryCauseAnEdge()
    {
        const auto evaluation = trial::evaluated(plan(), Depth::Spans);
        QVERIFY(evaluation);
        const Timeline &timeline = (*evaluation)->timeline;
        QVERIFY(timeline.spanCount() > 40);
        const QString text = textOf(**evaluation);
        QCOMPARE(count(text, "^ *s[0-9]+ \\[label="), qsizetype(timeline.spanCount()));
        const auto causes = std::ranges::count_if(timeline.cause, [](std::uint32_t one) { return one != kNoSpan; });
        QVERIFY(causes > 0);
        QCOMPARE(count(text, "^ *s[0-9]+ -> s[0-9]+;$"), qsizetype(causes));
        // a cluster a class of pipelines and stage, and brackets that close
        QCOMPARE(count(text, "subgraph \"cluster_"), qsizetype((*evaluation)->layout.classes.size() * 4));
        QCOMPARE(text.count(u'{'), text.count(u'}'));
    }

    void stringsAreQuoted()
    {
        const auto evaluation = trial::evaluated(plan(), Depth::Spans);
        QVERIFY(evaluation);
        const QString text = textOf(**evaluation);
        QVERIFY(text.contains(QStringLiteral("label=\"a \\\"quoted\\\" \\\\ name\\nof two lines\";")));
        // without its strings every line is made of names, brackets and signs of dot alone
        QString bare = text;
        bare.remove(QRegularExpression(QStringLiteral("\"(\\\\.|[^\"\\\\])*\"")));
        QVERIFY2(!bare.contains(u'"') && !bare.contains(u'\\'), qPrintable(bare.left(400)));
    }

    void aLongTimelineIsCutAtTheFirstSpans()
    {
        const auto evaluation = trial::evaluated(plan(), Depth::Spans);
        QVERIFY(evaluation);
        const QString text = textOf(**evaluation, 10);
        QCOMPARE(count(text, "^ *s[0-9]+ \\[label="), qsizetype(10));
        QVERIFY(text.contains(QStringLiteral("// the first 10 of ")));
        QVERIFY(textOf(**evaluation, 0).startsWith(QStringLiteral("digraph")));
    }
};

TRAINYARD_GUILESS_TEST(TestDot)
#include "tst_dot.moc"
