// SPDX-License-Identifier: GPL-3.0-or-later
// A table for spreadsheets says what JSON says, cell by cell.
#include "core/evaluation/report/comparison.h"
#include "core/evaluation/report/metrics_json.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QStringList>
#include <QTest>

#include <nlohmann/json.hpp>

using namespace trainyard;
using nlohmann::json;

class TstComparisonCsv : public QObject {
    Q_OBJECT

    static QStringList cells(const QString &line) { return line.split(u','); }

    /// "memory.peak_bytes" of the metrics; nothing where they have no such key.
    static const json *find(const json &metrics, const QString &key)
    {
        const json *at = &metrics;
        for (const QString &part : key.split(u'.')) {
            if (!at->is_object() || !at->contains(part.toStdString()))
                return nullptr;
            at = &(*at)[part.toStdString()];
        }
        return at;
    }

    static void compare(Plan plan, const char *what)
    {
        plan.name = "plan";
        const EvaluationPtr evaluation = test::evaluated(plan);
        const json metrics = json::parse(metricsJson(*evaluation));
        const QStringList lines =
            QString::fromStdString(comparisonCsv({ { "plan", "file", evaluation } })).split(u'\n');
        const QStringList keys = cells(lines[0]), values = cells(lines[1]);
        QCOMPARE(keys.size(), values.size());
        int offload = 0;
        for (qsizetype i = 3; i < keys.size(); ++i) {
            const json *value = find(metrics, keys[i]);
            if (!value)
                continue; // sums of the comparison's own
            offload += keys[i].startsWith(QLatin1String("offload.")) ? 1 : 0;
            const QByteArray message = (QLatin1String(what) + u' ' + keys[i] + u' ' + values[i]).toUtf8();
            QVERIFY2(value->is_null() == values[i].isEmpty(), message.constData());
            if (!value->is_null())
                QVERIFY2(
                    std::abs(values[i].toDouble() - value->get<double>()) <= 1e-12 * std::abs(value->get<double>()),
                    message.constData());
        }
        QVERIFY(offload == (evaluation->metrics.offload ? 5 : 0));
    }

private slots:
    void aNumberIsThereWhereJsonHasOneAndNowhereElse()
    {
        Plan plan = test::oneSite(8);
        compare(plan, "keeps");
        plan.memory.optimizerOffload = OptimizerOffload::Ssd;
        plan.parallelism.zeroStage = 1;
        compare(plan, "states on drives");
        plan.memory.optimizerOffload = OptimizerOffload::None;
        plan.memory.activationOffload = ActivationOffload::Host;
        compare(plan, "activations in host memory");
        plan.memory.offloadFraction = 0;
        compare(plan, "a share of nothing");
    }
};

TRAINYARD_APPLESS_TEST(TstComparisonCsv)
#include "tst_comparison_csv.moc"
