// SPDX-License-Identifier: GPL-3.0-or-later
// What `--vary` says, and what a sweep refuses before it begins.
#include "core/planner/sweep/draw.h"
#include "core/planner/sweep/sweep.h"
#include "tests/support/test_program.h"

#include "tests/support/plans.h"

#include <QTest>

#include <set>

using namespace trainyard;

namespace {

using Texts = std::vector<std::string>;

Texts values(const char *text)
{
    const auto axis = parseVary(text);
    return axis ? axis->values : Texts { "refused: " + toString(axis.error()) };
}

std::string fault(const char *text)
{
    const auto axis = parseVary(text);
    return axis ? "" : toString(axis.error());
}

SweepSpec specOf(std::vector<SweepAxis> axes, std::uint64_t random = 0, std::uint64_t seed = 1)
{
    return { std::make_shared<const Plan>(test::oneSite(4)), std::move(axes), random, seed };
}

std::string faults(const SweepSpec &spec)
{
    std::string text;
    for (const Error &error : checkSweep(spec))
        text += toString(error) + "\n";
    return text;
}

Texts numbers(int count)
{
    Texts texts;
    for (int i = 1; i <= count; ++i)
        texts.push_back(std::to_string(i));
    return texts;
}

} // namespace

class TstVary : public QObject {
    Q_OBJECT

private slots:
    void valuesStandBetweenCommasThatNothingHolds()
    {
        QCOMPARE(values("parallelism.tensor=1,2, 4"), (Texts { "1", "2", "4" }));
        QCOMPARE(values("workload.model=llama-3-8b,gpt-3-175b"), (Texts { "llama-3-8b", "gpt-3-175b" }));
        QCOMPARE(values(R"(placement.stages=[{"datacenter":"a","stages":2}],[])"),
            (Texts { R"([{"datacenter":"a","stages":2}])", "[]" }));
        QCOMPARE(values("name=\"a,b\",\"c\\\"],d\""), (Texts { "\"a,b\"", "\"c\\\"],d\"" }));
        QCOMPARE(parseVary("cluster.datacenters[0].pools[0].nodes=1")->key,
            std::string("cluster.datacenters[0].pools[0].nodes"));
    }

    void rangesGoByStepsOrFactorsUpToTheirEnd()
    {
        QCOMPARE(values("k=1..16:*2"), (Texts { "1", "2", "4", "8", "16" }));
        QCOMPARE(values("k=1..15:*2"), (Texts { "1", "2", "4", "8" }));
        QCOMPARE(values("k=10..40:+10"), (Texts { "10", "20", "30", "40" }));
        QCOMPARE(values("k=3..5,9"), (Texts { "3", "4", "5", "9" }));
        QCOMPARE(values("k=0.1..0.5:+0.1"), (Texts { "0.1", "0.2", "0.3", "0.4", "0.5" }));
        QCOMPARE(values("k=-1..1"), (Texts { "-1", "0", "1" }));
        QCOMPARE(values("k=../model/config.json"), (Texts { "../model/config.json" })); // a path, no range
    }

    void whatIsNoAxisIsToldWithWhatWouldBe()
    {
        for (const char *text : { "parallelism.tensor", "=1,2", "k=1,,2", "k=", "k=[1,2", "k=\"a", "k=1..8:*1",
                 "k=0..8:*2", "k=1..8:+0", "k=1..8:+-1", "k=8..1", "k=1..1000000" })
            QVERIFY2(!fault(text).empty(), text);
        QVERIFY(fault("k=1..8:*1").find("never ends") != std::string::npos);
        QVERIFY(fault("k=8..1").find("smaller number first") != std::string::npos);
        QVERIFY(fault("k=1..1000000").find("100000") != std::string::npos);
    }

    void everyCombinationIsARowAndTheLastKeyVariesFastest()
    {
        const SweepSpec spec = specOf({ { "parallelism.tensor", { "1", "2" } },
            { "parallelism.pipeline", { "1", "2", "4" } }, { "memory.recompute", { "none", "full" } } });
        QCOMPARE(spec.rows(), 12u);
        QCOMPARE(spec.values(0), (Texts { "1", "1", "none" }));
        QCOMPARE(spec.values(1), (Texts { "1", "1", "full" }));
        QCOMPARE(spec.values(11), (Texts { "2", "4", "full" }));
        std::set<Texts> all;
        for (std::uint64_t row = 0; row < spec.rows(); ++row)
            all.insert(spec.values(row));
        QCOMPARE(all.size(), 12u);
    }

    void drawnNumbersAreAPermutation()
    {
        for (const std::uint64_t bound : { 1u, 2u, 3u, 5u, 64u, 65u, 1000u }) {
            std::set<std::uint64_t> seen;
            for (std::uint64_t i = 0; i < bound; ++i) {
                QVERIFY(drawn(i, bound, 7) < bound);
                seen.insert(drawn(i, bound, 7));
            }
            QCOMPARE(seen.size(), bound);
        }
        const std::uint64_t large = ~std::uint64_t(0) - 1;
        QVERIFY(drawn(5, large, 1) < large);
    }

    void drawnRowsSpreadOverAllValues()
    {
        // Of 1,000 × 2 combinations 400 drawn: of each half of the first axis 200 are expected, and the deviation of a
        // draw without replacement is sqrt(400 · 1/4 · 0.8) = 9; five of them are 45.
        const SweepSpec spec =
            specOf({ { "workload.global_batch", numbers(1000) }, { "memory.recompute", { "none", "full" } } }, 400);
        QCOMPARE(spec.rows(), 400u);
        int low = 0;
        std::set<Texts> all;
        for (std::uint64_t row = 0; row < spec.rows(); ++row) {
            low += spec.choices(row)[0] < 500;
            all.insert(spec.values(row));
        }
        QVERIFY2(std::abs(low - 200) <= 45, std::to_string(low).c_str());
        QCOMPARE(all.size(), 400u);
        SweepSpec other = spec;
        other.seed = 2;
        QVERIFY(other.values(0) != spec.values(0) || other.values(1) != spec.values(1));
    }

    void moreRowsThanThereAreCombinationsAreAllOfThem()
    {
        const SweepSpec spec = specOf({ { "parallelism.tensor", { "1", "2", "4" } } }, 100);
        QCOMPARE(spec.rows(), 3u);
    }

    void aDrawIsTheSameOnEveryMachine()
    {
        // Written down once: a file of one machine is gone on with on another.
        QCOMPARE(drawn(0, 1000, 1), 808u);
        QCOMPARE(drawn(1, 1000, 1), 517u);
        QCOMPARE(drawn(0, 1'000'000'007, 42), 585858495u);
    }

    void keysAndValuesThatNoPlanHasAreTold()
    {
        QVERIFY(faults(specOf({ { "parallelism.tensr", { "1" } } })).find("parallelism.tensor") != std::string::npos);
        QVERIFY(faults(specOf({ { "parallelism.tensor", { "1", "two" } } })).find("two") != std::string::npos);
        QVERIFY(faults(specOf({ { "schedule", { "1f1b", "1f1f" } } })).find("1f1f") != std::string::npos);
        QVERIFY(!faults(specOf({})).empty());
        QVERIFY(faults(specOf({ { "schedule", { "1f1b", "1f1b" } } })).find("twice") != std::string::npos);
        QVERIFY(!faults(specOf({ { "schedule", { "1f1b" } }, { "schedule", { "gpipe" } } })).empty());
        const std::string thrice = faults(specOf({ { "parallelism.tensor", { "1", "1", "1" } } }));
        QCOMPARE(thrice.find("twice"), thrice.rfind("twice")); // told once
        QVERIFY(!faults(specOf({ { "name", { "a\nb" } } })).empty()); // a row is a line
        QCOMPARE(faults(specOf({ { "schedule", { "1f1b", "gpipe" } } })), std::string());
    }

    void moreRowsThanAFileHoldsAreRefused()
    {
        const Texts many = numbers(500);
        const std::vector<SweepAxis> axes { { "workload.global_batch", many }, { "workload.sequence_length", many },
            { "parallelism.tensor", many }, { "parallelism.pipeline", many } };
        QVERIFY(faults(specOf(axes)).find("62500000000") != std::string::npos); // 500^4
        QCOMPARE(faults(specOf(axes, 1000)), std::string());
    }

    void aFingerprintIsOfAllThatMakesTheRows()
    {
        const SweepSpec spec = specOf({ { "parallelism.tensor", { "1", "2" } } });
        QCOMPARE(spec.fingerprint(), specOf({ { "parallelism.tensor", { "1", "2" } } }).fingerprint());
        std::set<std::string> prints { spec.fingerprint() };
        prints.insert(specOf({ { "parallelism.tensor", { "2", "1" } } }).fingerprint());
        prints.insert(specOf({ { "parallelism.pipeline", { "1", "2" } } }).fingerprint());
        prints.insert(specOf({ { "parallelism.tensor", { "1", "2" } } }, 2).fingerprint());
        prints.insert(specOf({ { "parallelism.tensor", { "1", "2" } } }, 2, 2).fingerprint());
        SweepSpec other = spec;
        other.plan = std::make_shared<const Plan>(test::oneSite(5));
        prints.insert(other.fingerprint());
        QCOMPARE(prints.size(), 6u);
    }
};

TRAINYARD_APPLESS_TEST(TstVary)
#include "tst_vary.moc"
