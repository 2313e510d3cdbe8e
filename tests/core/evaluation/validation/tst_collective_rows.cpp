// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/collective_rows.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace trainyard;

class TestCollectiveRows : public QObject {
    Q_OBJECT

private slots:
    void whatHasToBeMetIsMetWithinTenPercent_data();
    void whatHasToBeMetIsMetWithinTenPercent();
    void rowsThatHaveToBeMetAreThoseOfThreeKernels();
    void nothingIsFittedToWhatHasToBeMet();
    void thePageHasTheTableThatTheRowsMake();
    void aTableIsMadeAnewAndAllElseStays();
    void aBrokenFileIsReportedEntryByEntry();
};

void TestCollectiveRows::whatHasToBeMetIsMetWithinTenPercent_data()
{
    QTest::addColumn<int>("index");
    const auto &rows = builtinCollectives().rows;
    for (int i = 0; i < int(rows.size()); ++i) {
        if (rows[std::size_t(i)].isGated)
            QTest::addRow(
                "%s, %s", rows[std::size_t(i)].what.c_str(), rows[std::size_t(i)].isCombine ? "combine" : "dispatch")
                << i;
    }
}

/// |ours / published - 1| <= 0.1
void TestCollectiveRows::whatHasToBeMetIsMetWithinTenPercent()
{
    QFETCH(int, index);
    const CollectiveRow &row = builtinCollectives().rows[std::size_t(index)];
    const double ours = predicted(row);
    QVERIFY2(std::abs(ours / row.published - 1) <= 0.1,
        qPrintable(QStringLiteral("%1, published %2").arg(ours).arg(row.published)));
}

void TestCollectiveRows::rowsThatHaveToBeMetAreThoseOfThreeKernels()
{
    std::multiset<std::string> gated;
    for (const CollectiveRow &row : builtinCollectives().rows) {
        if (row.isGated)
            gated.insert(row.what);
    }
    const std::multiset<std::string> expected { "DeepEP 1, EP16", "DeepEP 1, EP16", "DeepEP 1, EP32", "DeepEP 1, EP32",
        "DeepEP 1, EP64", "DeepEP 1, EP64", "HybridEP, EP64", "HybridEP, EP64", "NCCL all-to-all, EP64",
        "NCCL all-to-all, EP64" };
    QCOMPARE(gated, expected);
}

void TestCollectiveRows::nothingIsFittedToWhatHasToBeMet()
{
    for (const CollectiveRow &row : builtinCollectives().rows)
        QVERIFY2(!row.isGated || !row.isSource, row.what.c_str());
}

void TestCollectiveRows::thePageHasTheTableThatTheRowsMake()
{
    QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/experts.md"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const std::string page = file.readAll().toStdString();
    QVERIFY(page.find("<!-- published collectives -->\n| Measured") != std::string::npos);
    QVERIFY2(withCollectiveTable(page) == page, "scripts/validation writes the table of docs/experts.md anew");
}

void TestCollectiveRows::aTableIsMadeAnewAndAllElseStays()
{
    const std::string page =
        "# A\n<!-- published collectives -->\n| old | table |\n|---|---|\n\nIt ends.\n| another | table |\n";
    const std::string expected = "# A\n<!-- published collectives -->\n" + collectiveTable(builtinCollectives())
        + "\nIt ends.\n| another | table |\n";
    QCOMPARE(withCollectiveTable(page), expected);
    QCOMPARE(withCollectiveTable(expected), expected);
}

void TestCollectiveRows::aBrokenFileIsReportedEntryByEntry()
{
    const auto broken = parseCollectives(
        R"({"format": "trainyard.collectives", "version": 1, "sources": {"a": {"title": "A"}}, "rows": [
            {"source": "b", "what": "x", "gpu": "none", "published": 1, "ranks": 0, "speed": 1}]})",
        "rows.json");
    QVERIFY(!broken);
    const auto tells = [&](const char *pointer) {
        return std::ranges::any_of(
            broken.error(), [&](const Error &error) { return toString(error).find(pointer) != std::string::npos; });
    };
    QVERIFY(tells("/rows/0"));
    const auto wrong = parseCollectives(
        R"({"format": "trainyard.collectives", "version": 1, "sources": {"a": {"title": "A"}}, "rows": [
            {"source": "b", "what": "x", "gpu": "none", "published": 1, "ranks": 0}]})",
        "rows.json");
    QVERIFY(!wrong);
    QVERIFY(wrong.error().size() >= 3);
}

TRAINYARD_APPLESS_TEST(TestCollectiveRows)
#include "tst_collective_rows.moc"
