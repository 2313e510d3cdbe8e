// SPDX-License-Identifier: GPL-3.0-or-later
// The ranking of `trainyard-cli explain`: by throughput, by cost, with the micro-batches of a pipeline fixed.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>

using nlohmann::json;
using namespace trainyard::test;

namespace {

const QString kSample = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/llama-3-70b-three-regions.trainyard.json");

json ranking(const char *options)
{
    const Answer answer = run(words(options) << kSample);
    if (answer.exitCode != 0)
        qFatal("%s", qPrintable(answer.err));
    return json::parse(answer.out)["datacenter_selection"];
}

} // namespace

class TestExplain : public QObject {
    Q_OBJECT

private slots:
    void optionsAreRankedByWhatIsAskedFor()
    {
        for (const auto &[options, key, sign] : { std::tuple("explain --format json", "sequences_per_s", -1.0),
                 std::tuple("explain --format json --objective cost", "usd_per_million_tokens", 1.0) }) {
            const json selection = ranking(options);
            double before = -1e300;
            for (const auto &option : selection["options"]) {
                if (!option["feasible"].get<bool>())
                    continue;
                QVERIFY(sign * option[key].get<double>() >= before);
                before = sign * option[key].get<double>();
            }
            QVERIFY(before > -1e300);
        }
        QCOMPARE(run(words("explain --objective speed") << kSample).exitCode, 2);
    }

    void microBatchesCanBeFixed()
    {
        const json selection = ranking("explain --format json --micro-batches 32");
        int checked = 0;
        for (const auto &option : selection["options"])
            if (!option["current"].get<bool>() && !option["blocks"].empty()) {
                QCOMPARE(option["micro_batches"].get<int>(), 32);
                ++checked;
            }
        QVERIFY(checked > 0);
        // So many that a global batch would pass its limit of ten million: no degree is left, and nothing runs over
        for (const auto &option :
            ranking("explain --format json --micro-batches 1000000 --set workload.micro_batch=16")["options"])
            QVERIFY(option["sequences_per_s"].is_null() || option["sequences_per_s"].get<double>() > 0);
    }

    void itSaysHowManyPlacementsWereLookedAtAndWhetherTheBestIsProven()
    {
        const json selection = ranking("explain --format json");
        QVERIFY(selection["looked_at"].get<int>() >= selection["screened"].get<int>());
        QVERIFY(selection["screened"].get<int>() >= selection["simulated"].get<int>());
        const QString table = QString::fromStdString(run(words("explain") << kSample).out);
        QVERIFY(table.contains(QString("%1 placements of contiguous stages looked at, %2 simulated")
                                   .arg(selection["looked_at"].get<int>())
                                   .arg(selection["simulated"].get<int>())));
        QVERIFY(table.contains(selection["proven"].get<bool>() ? "none of the others is faster or cheaper"
                                                               : "others may still be better"));
    }

    void baselinesAreComparedAsJsonAndAsTheTableOfTheDocs()
    {
        const QString lab = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/cephalo-lab.trainyard.json");
        const Answer answer = run(words("explain --baselines --format json") << lab);
        QCOMPARE(answer.exitCode, 0);
        const json ways = json::parse(answer.out);
        QCOMPARE(ways["baselines"].size(), std::size_t(6));
        QCOMPARE(ways["ablations"].size(), std::size_t(7));
        for (const auto &list : ways) {
            for (const auto &way : list) {
                QVERIFY(!way["id"].empty() && !way["what"].empty());
                QCOMPARE(way["feasible"].get<bool>(), way["why"].is_null());
                double work = 0;
                for (const auto &set : way["sets"])
                    work += set["compute_share"].get<double>();
                QVERIFY(std::abs(work - 1) < 1e-9);
            }
        }
        const auto cephalo = ways["baselines"][5];
        QVERIFY(cephalo["current"].get<bool>());
        QVERIFY(std::abs(cephalo["layer_ms"].get<double>() - 342.297) < 0.001);
        QVERIFY(cephalo["limits"]["largest_batch"].is_null()); // memory sets none

        QFile page(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/model.md"));
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(page.readAll());
        const QString table = QString::fromStdString(run(words("explain --baselines") << lab).out);
        const QString shown = table.section(QStringLiteral("\nwhat each GPU does"), 0, 0);
        QVERIFY(shown.size() > 1000 && shown.size() < table.size());
        for (const QString &line : shown.split(u'\n'))
            QVERIFY2(text.contains(line), qPrintable(QStringLiteral("docs/model.md should say ") + line));
    }

    /// One list: resources with their prices, and what is only put elsewhere; by the time that they leave.
    void oneMoreOfEachResourceHasAPrice()
    {
        const json why = json::parse(run(words("explain --format json") << kSample).out);
        const double now = why["iteration_time_s"].get<double>();
        int priced = 0, dollars = 0, moved = 0;
        double before = 0;
        for (const auto &part : why["better_parts"]) {
            QVERIFY(part["iteration_time_s"].get<double>() >= before);
            before = part["iteration_time_s"].get<double>();
            moved += part["id"].get<std::string>().starts_with("move:");
            if (!part.contains("shadow_price"))
                continue;
            ++priced;
            const json price = part["shadow_price"];
            // of a plan that is simulated as it is, the share of the iteration that is saved
            if (!price["replanned"].get<bool>() && part["feasible"].get<bool>())
                QVERIFY(std::abs(price["gain"].get<double>() + part["change"].get<double>()) < 1e-9);
            QVERIFY(std::abs(price["gain_per_unit"].get<double>() * std::abs(price["amount"].get<double>())
                        - price["gain"].get<double>())
                < 1e-9);
            dollars += !price["gain_per_usd"].is_null();
            QVERIFY(!price["kind"].get<std::string>().starts_with("link-") || price["usd_per_hour"].is_null());
        }
        QVERIFY(now > 0 && priced > 15 && dollars > 3 && moved > 0);
        QVERIFY(why["binding"].size() >= 3);
        QVERIFY(why["retirements"].empty()); // equal GPUs, all at work

        const QString table = QString::fromStdString(run(words("explain") << kSample).out);
        QVERIFY(table.contains("what binds\n  Compute binds"));
        QVERIFY(table.contains("what one more would buy"));
    }

    void oldGpusThatDoNotPayAreNamed()
    {
        const QString mixed = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/opt-30b-128-a100-384-v100.trainyard.json");
        const json why = json::parse(run(words("explain --format json") << mixed).out);
        QVERIFY(why["retirements"].size() >= 4);
        const json first = why["retirements"][0];
        QVERIFY(first["saving"].get<double>() > 0);
        QVERIFY(
            QString::fromStdString(run(words("explain") << mixed).out)
                .contains("which GPUs to retire\n  " + QString::fromStdString(first["sentence"].get<std::string>())));
    }

    /// The tables of docs/planner-why.md are what the program prints.
    void thePageShowsWhatTheProgramPrints()
    {
        QFile page(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/planner-why.md"));
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(page.readAll());
        const QString out = QString::fromStdString(run(words("explain") << kSample).out);
        const QString shown =
            out.section(QStringLiteral("\nwhat binds\n"), 1).section(QStringLiteral("\n\ndatacenters"), 0, 0);
        QVERIFY(shown.size() > 1000);
        for (const QString &line : shown.split(u'\n'))
            QVERIFY2(text.contains(line), qPrintable(QStringLiteral("docs/planner-why.md should say ") + line));
    }

    void baselinesNeedAPlanThatCanBeRead() { QCOMPARE(run(words("explain --baselines absent.json")).exitCode, 2); }
};

TRAINYARD_GUILESS_TEST(TestExplain)
#include "tst_explain.moc"
