// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a sweep as a window shows them: columns, their texts, the front, and what a row is in words.
#include "models/sweep_results.h"
#include "tests/support/test_program.h"

#include "tests/support/swept_file.h"

#include <QElapsedTimer>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace trainyard;

class SweepResultsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(test::writeSweep(path("rows.csv")));
        QVERIFY(test::writeSweep(path("rows.jsonl")));
    }

    void aFileOfEitherKindGivesTheSameColumns()
    {
        SweepResults csv, json;
        read(csv, "rows.csv");
        read(json, "rows.jsonl");
        for (const SweepResults *results : { &csv, &json })
            QCOMPARE(results->rows(), 72u);
        QCOMPARE(csv.columns().size(), json.columns().size());
        for (std::size_t i = 0; i < csv.columns().size(); ++i) {
            QCOMPARE(csv.columns()[i].key, json.columns()[i].key);
            for (std::size_t row = 0; row < csv.rows(); ++row)
                QCOMPARE(csv.columns()[i].textOf(csv.columns()[i].values[row]),
                    json.columns()[i].textOf(json.columns()[i].values[row]));
        }
    }

    void keysAreNumbersOrChoicesAndMetricsHaveUnits()
    {
        SweepResults results;
        read(results);
        const auto column = [&](const char *key) { return results.columns()[std::size_t(results.column(key))]; };
        QCOMPARE(column("parallelism.tensor").label, QStringLiteral("Tensor parallel"));
        QVERIFY(column("parallelism.tensor").choices.isEmpty());
        QCOMPARE(column("parallelism.tensor").least, 1.0);
        QCOMPARE(column("parallelism.tensor").most, 8.0);
        QCOMPARE(column("memory.recompute").choices, (QStringList { "none", "full" }));
        QCOMPARE(column("memory.recompute").textOf(1), QStringLiteral("full"));
        QVERIFY(column("iteration_time_s").better == SweepColumn::Better::Lower);
        QVERIFY(column("iteration_time_s").textOf(12.4).endsWith(QStringLiteral(" s")));
        QVERIFY(column("mfu").textOf(0.43).contains(u'%'));
        QCOMPARE(results.column("jobs.makespan_s"), -1); // no row has it
    }

    void theFrontIsOfRowsThatNoOtherOutdoes()
    {
        SweepResults results;
        read(results);
        const int x = results.column("iteration_time_s"), y = results.column("memory.fill");
        const auto &time = results.columns()[std::size_t(x)].values, &fill = results.columns()[std::size_t(y)].values;
        const auto front = results.front(x, y);
        QVERIFY(front.size() >= 1);
        for (std::size_t row = 0; row < results.rows(); ++row) {
            if (results.state(row) != SweepState::Feasible)
                continue;
            const bool isOutdone = [&] {
                for (std::size_t other = 0; other < results.rows(); ++other)
                    if (results.state(other) == SweepState::Feasible && time[other] <= time[row]
                        && fill[other] <= fill[row] && (time[other] < time[row] || fill[other] < fill[row]))
                        return true;
                return false;
            }();
            const bool isOnFront = std::ranges::find(front, row) != front.end();
            QVERIFY(!(isOutdone && isOnFront));
            if (!isOutdone && !isOnFront) // equal in both to one that is
                QVERIFY(std::ranges::any_of(
                    front, [&](std::size_t on) { return time[on] == time[row] && fill[on] == fill[row]; }));
        }
        QVERIFY(results.front(x, x).empty());
        QVERIFY(results.front(results.column("parallelism.tensor"), x).empty()); // no way is better
    }

    void aRowIsToldInWords()
    {
        SweepResults results;
        read(results);
        QCOMPARE(results.valuesText(0),
            QStringLiteral("Tensor parallel 1, Pipeline stages 1, Recompute none, Model llama-3-8b"));
        QVERIFY(results.describe(1).contains(QStringLiteral("nobody")));
        QVERIFY2(results.summary().startsWith(QStringLiteral("72 rows: ")), qPrintable(results.summary()));
    }

    void whatCannotBeReadIsToldAndWhatWasOpenStays()
    {
        SweepResults results;
        read(results);
        QFile file(QString::fromStdString(path("other.csv")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("a,b\n1,2\n");
        file.close();
        QSignalSpy failed(&results, &SweepResults::failed);
        results.open(file.fileName());
        QVERIFY(failed.wait(30000));
        QCOMPARE(results.rows(), 72u);
    }

    void aHundredThousandRowsAreRead()
    {
        SweepSpec spec = test::sweptSpec();
        spec.vary = { *parseVary("workload.global_batch=1..1000"), *parseVary("workload.sequence_length=1..100") };
        const std::string name = path("many.csv");
        {
            auto file = SweepFile::open(name, spec, SweepFormat::Csv, SweepFile::Start::New);
            const SweepLines lines(spec, SweepFormat::Csv);
            SweepRow row { 0, {}, "feasible", {}, {} };
            for (const std::string &metric : sweepMetricNames())
                row.metrics.emplace_back(metric, 1.5);
            std::string text;
            for (; row.number < spec.rows(); ++row.number) {
                row.values = spec.values(row.number);
                lines.append(row, text);
            }
            QVERIFY(file->append(text));
        }
        SweepResults results;
        read(results, "many.csv");
        QCOMPARE(results.rows(), 100'000u);
        QCOMPARE(results.columns()[1].values[199], 100.0);
        QCOMPARE(results.columns()[0].values[200], 3.0);
    }

private:
    std::string path(const char *name) const { return m_folder.filePath(QLatin1String(name)).toStdString(); }
    void read(SweepResults &results, const char *name = "rows.csv") const
    {
        QSignalSpy opened(&results, &SweepResults::opened);
        results.open(QString::fromStdString(path(name)));
        QVERIFY(opened.wait(30000));
    }

    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(SweepResultsTest)
#include "tst_sweep_results.moc"
