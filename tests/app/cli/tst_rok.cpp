// SPDX-License-Identifier: GPL-3.0-or-later
// `trainyard-cli rok`, run as a script would run it, against `evaluate` of the same plans.

#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <map>

using nlohmann::json;
using namespace trainyard::test;

namespace {

json points()
{
    const Answer answer = run({ QStringLiteral("rok"), QStringLiteral("--format"), QStringLiteral("json"),
        sampleFile("ssdtrain-bert-2xa100") });
    return json::parse(answer.out)["points"];
}

} // namespace

class TstRok : public QObject {
    Q_OBJECT

private slots:
    void everyPointIsWhatEvaluateSays()
    {
        int seen = 0;
        for (const json &point : points()) {
            const std::string way = point["way"];
            QStringList arguments { QStringLiteral("evaluate"), sampleFile("ssdtrain-bert-2xa100"),
                QStringLiteral("--format"), QStringLiteral("json"), QStringLiteral("--set"),
                QStringLiteral("workload.micro_batch=%1").arg(point["micro_batch"].get<int>()) };
            if (way != "offload")
                arguments << QStringLiteral("--set") << QStringLiteral("memory.activation_offload=none");
            if (way == "recompute")
                arguments << QStringLiteral("--set") << QStringLiteral("memory.recompute=full");
            const json metrics = json::parse(run(arguments).out);
            QCOMPARE(point["iteration_time_s"].get<double>(), metrics["iteration_time_s"].get<double>());
            QCOMPARE(point["model_tflops_per_gpu"].get<double>(), metrics["model_tflops_per_gpu"].get<double>());
            const json &stage = metrics["memory"]["per_stage"][0];
            QCOMPARE(point["kept_bytes"].get<double>(), stage["activations_bytes"].get<double>());
            // What comes and goes beside them is of the buffers, not all of which do.
            const double beside = point["activations_bytes"].get<double>() - point["kept_bytes"].get<double>();
            QVERIFY(beside > 0 && beside < stage["buffers_bytes"].get<double>());
            QCOMPARE(point["device_bytes"].get<double>(), metrics["memory"]["device_bytes"].get<double>());
            QCOMPARE(point["fits"].get<bool>(), metrics["memory"]["fits"].get<bool>());
            ++seen;
        }
        QCOMPARE(seen, 3 * 6); // micro-batches 1 to 32
    }

    void onePointIsThePlan()
    {
        int current = 0;
        for (const json &point : points())
            if (point["current"].get<bool>()) {
                ++current;
                QCOMPARE(point["way"].get<std::string>(), std::string("offload"));
                QCOMPARE(point["micro_batch"].get<int>(), 32);
            }
        QCOMPARE(current, 1);
    }

    void allFormatsSayTheSame()
    {
        const json all = points();
        const Answer csv = run({ QStringLiteral("rok"), QStringLiteral("--format"), QStringLiteral("csv"),
            sampleFile("ssdtrain-bert-2xa100") });
        const Answer table = run({ QStringLiteral("rok"), sampleFile("ssdtrain-bert-2xa100") });
        QCOMPARE(csv.exitCode, 0);
        QCOMPARE(table.exitCode, 0);
        const QStringList lines = QString::fromStdString(csv.out).trimmed().split(u'\n'),
                          rows = QString::fromStdString(table.out).trimmed().split(u'\n');
        QCOMPARE(lines.size(), qsizetype(all.size()) + 1);
        QCOMPARE(rows.size(), qsizetype(all.size()) + 2); // headings and their rule
        const QStringList columns = lines.front().split(u',');
        for (std::size_t i = 0; i < all.size(); ++i) {
            const QStringList cells = lines[qsizetype(i) + 1].split(u',');
            QCOMPARE(cells.size(), columns.size());
            for (qsizetype c = 0; c < columns.size(); ++c) {
                const json &value = all[i][columns[c].toStdString()];
                QCOMPARE(cells[c], QString::fromStdString(value.is_string() ? value.get<std::string>() : value.dump()));
            }
            const QString &row = rows[qsizetype(i) + 2];
            QVERIFY(row.startsWith(cells.front()));
            QCOMPARE(row.contains(QLatin1String("does not fit")), !all[i]["fits"].get<bool>());
            QCOMPARE(row.contains(QLatin1String("the plan")), all[i]["current"].get<bool>());
        }
    }

    void theSampleShowsWhatIsPublished()
    {
        // SSDTrain, Fig. 7: offload as fast as keeping at equal micro-batch with less than recomputation holds, and
        // twice the micro-batch of keeping in what keeping holds
        std::map<std::pair<std::string, int>, json> all;
        for (const json &point : points())
            all[std::pair(point["way"].get<std::string>(), point["micro_batch"].get<int>())] = point;
        const auto at = [&](const char *way, int size, const char *key) {
            return all[std::pair(std::string(way), size)][key].get<double>();
        };
        for (const int size : { 8, 16 }) {
            QVERIFY(at("offload", size, "iteration_time_s") < 1.001 * at("keep", size, "iteration_time_s"));
            QVERIFY(at("offload", size, "activations_bytes") < at("recompute", size, "activations_bytes"));
            QVERIFY(at("offload", size, "device_bytes") < at("recompute", size, "device_bytes"));
            QVERIFY(at("offload", 2 * size, "activations_bytes") < at("keep", size, "activations_bytes"));
        }
    }

    void badInputIsTold()
    {
        QCOMPARE(run({ QStringLiteral("rok") }).exitCode, 2);
        QCOMPARE(run({ QStringLiteral("rok"), QStringLiteral("absent.json") }).exitCode, 2);
        const Answer profile = run({ QStringLiteral("rok"), sampleFile("ssdtrain-bert-2xa100"), QStringLiteral("--set"),
            QStringLiteral("profile.forward_ms=10"), QStringLiteral("--set"),
            QStringLiteral("profile.backward_ms=20") });
        QCOMPARE(profile.exitCode, 2);
        QVERIFY2(profile.err.contains(QLatin1String("profile")), qPrintable(profile.err));
    }
};

TRAINYARD_APPLESS_TEST(TstRok)
#include "tst_rok.moc"
