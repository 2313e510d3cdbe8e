// SPDX-License-Identifier: GPL-3.0-or-later
// Every sample through the program: all metrics that apply are there, the breakdown adds up, the report is written.

#include "tests/support/test_program.h"

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using nlohmann::json;

namespace {

std::string answer(const QStringList &arguments)
{
    QProcess process;
    process.start(QStringLiteral(TRAINYARD_CLI), arguments);
    if (!process.waitForFinished(240'000) || process.exitCode() != 0) {
        qWarning("%s", process.readAllStandardError().constData());
        return {};
    }
    return process.readAllStandardOutput().toStdString();
}

QStringList sampleNames()
{
    return QDir(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples"))
        .entryList({ QStringLiteral("*.trainyard.json") }, QDir::Files);
}

/// Those that train one model, or all.
void addSamples(bool withJobs = false)
{
    QTest::addColumn<QString>("path");
    for (const QString &name : sampleNames()) {
        const QString path = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/") + name;
        QFile file(path);
        const bool hasJobs = file.open(QIODevice::ReadOnly) && file.readAll().contains("\"job_scheduler\"");
        if (withJobs || !hasJobs)
            QTest::newRow(qPrintable(name)) << path;
    }
}

} // namespace

class TstSamples : public QObject {
    Q_OBJECT

private slots:
    void thereAreSamples() { QVERIFY(sampleNames().size() >= 6); }

    void everyMetricThatAppliesIsPrinted_data() { addSamples(); }
    void everyMetricThatAppliesIsPrinted()
    {
        QFETCH(QString, path);
        const std::string out =
            answer({ QStringLiteral("evaluate"), path, QStringLiteral("--format"), QStringLiteral("json") });
        QVERIFY(!out.empty());
        const json m = json::parse(out);
        for (const char *key : { "iteration_time_s", "tokens_per_s", "tokens_per_s_per_gpu", "gpu_utilization" })
            QVERIFY2(m[key].is_number() && m[key].get<double>() > 0, key);
        for (const char *key : { "mfu", "hfu", "gpu_utilization", "bubble_fraction" })
            QVERIFY2(m[key].is_null() || (m[key].get<double>() >= 0 && m[key].get<double>() <= 1), key);
        QVERIFY(m["gpus_used"].get<int>() > 0);
        QVERIFY(m["gpus_used"].get<int>() <= m["gpus_total"].get<int>());
        QVERIFY(m["feasible"].get<bool>());
        QVERIFY(m["confidence"]["label"].is_string());
        QVERIFY(m["engine"]["spans"].get<int>() > 0);
    }

    /// Of the sample with jobs: no iteration, and all jobs done not before the bound.
    void jobsArePrinted()
    {
        const json m = json::parse(answer(
            { QStringLiteral("evaluate"), QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/hydra-lab.trainyard.json"),
                QStringLiteral("--format"), QStringLiteral("json") }));
        QVERIFY(m["iteration_time_s"].is_null() && m["breakdown_s"].is_null());
        QVERIFY(m["feasible"].get<bool>());
        const json &jobs = m["jobs"];
        QCOMPARE(jobs["per_job"].size(), std::size_t(12));
        const double makespan = jobs["makespan_s"].get<double>(), bound = jobs["bound_s"].get<double>();
        QVERIFY(makespan >= bound && makespan < 1.05 * bound);
        double last = 0;
        for (const json &job : jobs["per_job"]) {
            QVERIFY(job["shards"].get<int>() > 1); // no model fits a GPU
            last = std::max(last, job["end_s"].get<double>());
        }
        QCOMPARE(last, makespan);
        QVERIFY(m["engine"]["spans"].get<int>() > 0);
    }

    void theBreakdownAddsUpToTheIteration_data() { addSamples(); }
    void theBreakdownAddsUpToTheIteration()
    {
        QFETCH(QString, path);
        const json m = json::parse(
            answer({ QStringLiteral("evaluate"), path, QStringLiteral("--format"), QStringLiteral("json") }), nullptr,
            false);
        QVERIFY(m.is_object());
        // Σ breakdown = iteration, within 0.1 %; bubble_fraction = bubble / iteration.
        double sum = 0;
        for (const auto &part : m["breakdown_s"]) {
            QVERIFY(part.get<double>() >= 0);
            sum += part.get<double>();
        }
        const double iteration = m["iteration_time_s"].get<double>();
        QVERIFY2(std::abs(sum - iteration) <= 1e-3 * iteration,
            qPrintable(QStringLiteral("%1 of %2").arg(sum).arg(iteration)));
        QVERIFY(
            std::abs(m["bubble_fraction"].get<double>() - m["breakdown_s"]["bubble"].get<double>() / iteration) < 1e-6);
    }

    void bytesAreConserved_data() { addSamples(true); }
    void bytesAreConserved()
    {
        QFETCH(QString, path);
        const json m = json::parse(
            answer({ QStringLiteral("evaluate"), path, QStringLiteral("--format"), QStringLiteral("json") }), nullptr,
            false);
        QVERIFY(m.is_object());
        // Links carry what the iteration sends.
        if (!m["wan"].is_null()) {
            double bytes = 0;
            for (const json &link : m["wan"]["links"])
                bytes += link["bytes"].get<double>();
            QVERIFY(std::abs(bytes - m["wan"]["bytes_per_iteration"].get<double>()) <= 1e-6 * bytes);
        }
        // Allocated <= reserved <= on the device, in every stage.
        if (!m["memory"].is_null()) {
            for (const json &s : m["memory"]["per_stage"]) {
                QVERIFY(s["peak_bytes"].get<double>() <= s["reserved_bytes"].get<double>());
                QVERIFY(s["reserved_bytes"].get<double>() <= s["device_bytes"].get<double>());
            }
        }
    }

    void aReportIsWritten_data() { addSamples(true); }
    void aReportIsWritten()
    {
        QFETCH(QString, path);
        QTemporaryDir folder;
        const QString out = folder.filePath(QStringLiteral("report.html"));
        answer({ QStringLiteral("report"), path, QStringLiteral("--out"), out });
        QFile page(out);
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QByteArray html = page.readAll();
        QVERIFY(html.contains("aria-label=\"Timeline of "));
        QVERIFY(html.trimmed().endsWith("</html>"));
        QVERIFY2(html.size() < 3'000'000, qPrintable(QString::number(html.size())));
    }
};

TRAINYARD_APPLESS_TEST(TstSamples)
#include "tst_samples.moc"
