// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in the background: what is delivered, what stops one, what is said of a broken file.
#include "rows_by_hand.h"
#include "tests/support/test_program.h"

#include "models/validation/validation_runner.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <semaphore>

using namespace trainyard;

class ValidationRunnerTest : public QObject {
    Q_OBJECT
private slots:
    void aRunDeliversOneImmutableResult()
    {
        ValidationRunner runner(builtinCatalogue(), [](const QString &) { return byhand::sets(); });
        QVERIFY(!runner.result() && !runner.isRunning());
        QSignalSpy finished(&runner, &ValidationRunner::finished);
        runner.run();
        QVERIFY(runner.isRunning());
        QVERIFY(finished.wait(30000));
        QVERIFY(!runner.isRunning());
        const ValidatedRowsPtr found = runner.result();
        QCOMPARE(found->results().size(), std::size_t(5));
        QVERIFY(found->results()[0].predicted && *found->results()[0].predicted > 0);
        QVERIFY(!found->results()[3].predicted);
        QCOMPARE(found->validation.sources.size(), std::size_t(2));
    }
    void aRunThatIsGivenUpDeliversNothingAndTheOneBeforeStays()
    {
        std::binary_semaphore isReading(0), mayRead(0);
        ValidationRunner runner(builtinCatalogue(), [&](const QString &file) {
            if (!file.isEmpty()) {
                isReading.release();
                mayRead.acquire();
            }
            return byhand::sets();
        });
        QSignalSpy finished(&runner, &ValidationRunner::finished), cancelled(&runner, &ValidationRunner::cancelled);
        runner.run();
        QVERIFY(finished.wait(30000));
        const ValidatedRowsPtr before = runner.result();
        runner.run(QStringLiteral("slow"));
        isReading.acquire();
        runner.cancel();
        QCOMPARE(cancelled.count(), 1);
        QVERIFY(!runner.isRunning());
        mayRead.release();
        runner.run();
        QVERIFY(finished.wait(30000));
        QCOMPARE(finished.count(), 2);
        QVERIFY(runner.result() != before && runner.result()->file.isEmpty());
    }
    void faultsOfAFileComeWithTheirPlace()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("mine.json"));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"({"format": "trainyard.validation", "version": 1, "source": "mine", "title": "Mine",
                       "rows": [{"id": "a", "plan": {"workload": {"colour": 3}}, "published": {"iteration_time_s": 1}}]})");
        file.close();
        ValidationRunner runner(builtinCatalogue());
        QSignalSpy failed(&runner, &ValidationRunner::failed);
        runner.run(path);
        QVERIFY(failed.wait(30000));
        const Errors errors = failed.front().at(1).value<Errors>();
        QVERIFY(!errors.empty());
        QVERIFY2(errors.front().where.find("/rows/0/plan/workload/colour") != std::string::npos,
            errors.front().where.c_str());
        QVERIFY(!runner.result());
    }
    void progressReachesTheWindowWhileRowsAreEvaluated()
    {
        ValidationRunner runner(builtinCatalogue(), [](const QString &) {
            std::vector<RowSet> sets { byhand::sets().front() };
            for (int i = 0; i < 200; ++i)
                sets[0].rows.push_back(byhand::row("row " + std::to_string(i), { { "iteration_time_s", 1.0 } }));
            return sets;
        });
        QSignalSpy progressed(&runner, &ValidationRunner::progressed), finished(&runner, &ValidationRunner::finished);
        runner.run();
        QVERIFY(finished.wait(60000));
        QCOMPARE(runner.result()->results().size(), std::size_t(204));
        for (const QList<QVariant> &step : progressed)
            QVERIFY(step.at(0).toInt() <= step.at(1).toInt());
    }
};

TRAINYARD_GUILESS_TEST(ValidationRunnerTest)
#include "tst_validation_runner.moc"
