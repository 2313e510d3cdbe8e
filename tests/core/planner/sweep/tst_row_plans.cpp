// SPDX-License-Identifier: GPL-3.0-or-later
// Values are read once and copied from then on: the plan of every row is the one that setting key after key gives.
#include "core/facts/plan/plan_io.h"
#include "core/planner/sweep/copy_key.h"
#include "core/planner/sweep/row_plans.h"
#include "tests/support/test_program.h"

#include "tests/support/plans.h"

#include <QTest>

using namespace trainyard;

namespace {

PlanPtr base()
{
    auto plan = parsePlan(formatPlan(test::threeSites(4)), "plan");
    return std::make_shared<const Plan>(std::move(*plan));
}

ExpectedAll<Plan> keyAfterKey(const SweepSpec &spec, std::uint64_t row)
{
    const auto values = spec.values(row);
    ExpectedAll<Plan> plan = *spec.plan;
    for (std::size_t i = 0; i < values.size() && plan; ++i)
        plan = withKeySet(*plan, spec.vary[i].key, values[i]);
    return plan;
}

} // namespace

class TstRowPlans : public QObject {
    Q_OBJECT

private slots:
    void plainKeysAreCopied_data()
    {
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("value");
        QTest::addColumn<bool>("isPlain");
        const auto add = [](const char *key, const char *value, bool isPlain = true) {
            QTest::addRow("%s", key) << key << value << isPlain;
        };
        add("parallelism.tensor", "4");
        add("parallelism.data", "3"); // a number or auto
        add("parallelism.sequence_parallel", "false");
        add("memory.recompute", "full");
        add("schedule", "gpipe");
        add("cluster.datacenters[1].pools[0].nodes", "7");
        add("cluster.wan_links[2].rtt_ms", "123.5");
        add("workload.model", "gpt-3-1.3b", false);
        add("cluster.datacenters[0].id", "z", false);
        add("placement.stages", "[]", false);
        add("cluster.datacenters[9].pools[0].nodes", "7", false);
        add("name", "x", false);
    }
    void plainKeysAreCopied()
    {
        QFETCH(QString, key);
        QFETCH(QString, value);
        QFETCH(bool, isPlain);
        const PlanPtr plan = base();
        Plan copy = *plan;
        const auto set = withKeySet(*plan, key.toStdString(), value.toStdString());
        const Plan &from = set ? *set : *plan;
        QCOMPARE(setPlainValue(copy, key.toStdString(), plainValue(from, key.toStdString())), isPlain);
        QVERIFY(isPlain ? copy == from : copy == *plan);
    }

    void theyAreThoseThatSettingKeyAfterKeyGives_data()
    {
        QTest::addColumn<QStringList>("vary");
        QTest::addRow("plain keys") << QStringList { "parallelism.tensor=1,2,4", "parallelism.pipeline=2..8",
            "memory.recompute=none,full", "cluster.wan_links[0].rtt_ms=10,20" };
        QTest::addRow("a model between plain keys") << QStringList { "parallelism.tensor=1,2,4",
            "workload.model=llama-3-8b,gpt-3-1.3b", "schedule=1f1b,gpipe" };
        QTest::addRow("a list and a key inside of it, in their order")
            << QStringList { "cluster.datacenters[0].pools=[{\"id\":\"p\",\"gpu\":\"a100-sxm-80gb\",\"nodes\":3}]",
                   "cluster.datacenters[0].pools[0].nodes=2,5", "parallelism.tensor=1,2" };
        QTest::addRow("a stack, then what it overrides")
            << QStringList { "stack=fsdp,deepspeed", "stack.host_overhead_ms=1,2", "parallelism.tensor=1,2" };
        QTest::addRow("zones that only together have a network")
            << QStringList { "cluster.datacenters[0].id=x,y", "cluster.wan_links[0].capacity_gbps=1,2" };
    }
    void theyAreThoseThatSettingKeyAfterKeyGives()
    {
        QFETCH(QStringList, vary);
        SweepSpec spec { base(), {} };
        for (const QString &text : vary)
            spec.vary.push_back(*parseVary(text.toStdString()));
        RowPlans plans(spec);
        for (std::uint64_t row = 0; row < spec.rows(); ++row) {
            const auto asked = plans.plan(spec.choices(row));
            const auto expected = keyAfterKey(spec, row);
            QCOMPARE(asked.has_value(), expected.has_value());
            if (asked) {
                QVERIFY2(**asked == *expected, std::to_string(row).c_str());
                QCOMPARE(formatPlan(**asked), formatPlan(*expected));
            } else {
                QCOMPARE(toString(asked.error().front()), toString(expected.error().front()));
            }
        }
    }
};

TRAINYARD_APPLESS_TEST(TstRowPlans)
#include "tst_row_plans.moc"
