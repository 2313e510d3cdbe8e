// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of all variants beside one of them.
#include "models/session/variant_numbers.h"

#include "tests/support/plans.h"
#include "tests/support/test_program.h"
#include "tests/support/until.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

MetricRow row(const std::string &key, Metric value, Better better, MetricUnit unit = MetricUnit::Time)
{
    return { key, key, unit, better, value };
}

const NumbersTable::Row *rowOf(const NumbersTable &table, const std::string &key)
{
    const auto found = std::ranges::find(table.rows, key, &NumbersTable::Row::key);
    return found == table.rows.end() ? nullptr : &*found;
}

} // namespace

class VariantNumbersTest : public QObject {
    Q_OBJECT

private slots:
    void differencesAreAgainstTheChosenOne()
    {
        // 8 s is 20 % less than 10 s, 12 s is 20 % more; against 8 s, 10 s is 25 % and 12 s is 50 % more.
        const NumbersOfPlan a { { row("time", 10, Better::Lower) }, {} }, b { { row("time", 8, Better::Lower) }, {} },
            c { { row("time", 12, Better::Lower) }, {} };
        const NumbersTable first = numbersAgainst({ &a, &b, &c }, 0);
        QCOMPARE(first.rows.size(), std::size_t(1));
        QVERIFY((first.rows[0].cells[0] == NumbersTable::Cell { "10.0 s", Tone::Plain }));
        QVERIFY((first.rows[0].cells[1] == NumbersTable::Cell { "8.00 s  −20.0 %", Tone::Good }));
        QVERIFY((first.rows[0].cells[2] == NumbersTable::Cell { "12.0 s  +20.0 %", Tone::Bad }));
        const NumbersTable second = numbersAgainst({ &a, &b, &c }, 1);
        QVERIFY((second.rows[0].cells[0] == NumbersTable::Cell { "10.0 s  +25.0 %", Tone::Bad }));
        QVERIFY((second.rows[0].cells[1] == NumbersTable::Cell { "8.00 s", Tone::Plain }));
        QVERIFY((second.rows[0].cells[2] == NumbersTable::Cell { "12.0 s  +50.0 %", Tone::Bad }));
    }

    void moreIsBetterWhereTheNumberSaysSo()
    {
        const NumbersOfPlan a { { row("rate", 10, Better::Higher), row("size", 10, Better::Neither) }, {} },
            b { { row("rate", 12, Better::Higher), row("size", 12, Better::Neither) }, {} };
        const NumbersTable table = numbersAgainst({ &a, &b }, 0);
        QVERIFY(table.rows[0].cells[1].tone == Tone::Good);
        QVERIFY(table.rows[1].cells[1].tone == Tone::Muted);
    }

    void whatIsNotKnownNotThereOrInDoubtHasNoDifference()
    {
        const NumbersOfPlan a { { row("time", 10, Better::Lower), row("wan", {}, Better::Lower) }, {} },
            b { { row("time", 8, Better::Lower), row("wan", 3, Better::Lower) }, "not compared: a GPU is not known" };
        const NumbersTable table = numbersAgainst({ &a, &b, nullptr }, 0);
        QVERIFY((rowOf(table, "time")->cells[1] == NumbersTable::Cell { "8.00 s", Tone::Plain }));
        QVERIFY((rowOf(table, "time")->cells[2] == NumbersTable::Cell { "…", Tone::Muted }));
        QVERIFY((rowOf(table, "wan")->cells[0] == NumbersTable::Cell { "–", Tone::Muted }));
        QVERIFY((rowOf(table, "wan")->cells[1] == NumbersTable::Cell { "3.00 s", Tone::Plain }));
        const NumbersOfPlan none { { row("wan", {}, Better::Lower) }, {} };
        QVERIFY(numbersAgainst({ &none }, 0).rows.empty()); // nothing has it
    }

    void everyVariantIsEvaluatedWhileSomeoneLooks()
    {
        PlanDocument document(std::make_shared<const Plan>(test::oneSite(8)), {});
        SessionDocument session(document);
        VariantNumbers numbers(session, builtinCatalogue());
        session.branch();
        Plan other = *document.plan();
        other.workload.globalBatch *= 2;
        document.apply(std::make_shared<const Plan>(other));
        const PlanPtr first = session.variants()[0].plan, second = session.variants()[1].plan;
        QTest::qWait(50);
        QVERIFY(!numbers.of(first) && !numbers.of(second)); // nobody looks
        numbers.setWatched(true);
        QVERIFY(test::until([&] { return numbers.of(first) && numbers.of(second); }));
        const auto timeOf = [&](const PlanPtr &plan) {
            const auto &rows = numbers.of(plan)->rows;
            return *std::ranges::find(rows, "iteration_time_s", &MetricRow::key)->value;
        };
        QCOMPARE(timeOf(first), *test::evaluated(*first)->metrics.iterationTime);
        QCOMPARE(timeOf(second), *test::evaluated(*second)->metrics.iterationTime);
        session.remove(session.variants()[1].id);
        QVERIFY(!numbers.of(second)); // no variant has it any more
    }
};

TRAINYARD_GUILESS_TEST(VariantNumbersTest)
#include "tst_variant_numbers.moc"
