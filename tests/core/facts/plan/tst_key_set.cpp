// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/key_list.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include "tests/core/facts/plan/random_plan.h"
#include "tests/support/json_schema.h"

#include <QTest>

using namespace trainyard;

namespace {

Plan example()
{
    Plan plan;
    plan.name = "x";
    plan.baseDir = "/plans";
    plan.workload.model = "llama-3-8b";
    plan.workload.globalBatch = 64;
    Datacenter a;
    a.id = "a";
    Pool pool;
    pool.id = "a-h100";
    pool.gpu = "h100-sxm-80gb";
    pool.nodes = 4;
    a.pools = { pool };
    plan.cluster.datacenters = { a };
    return plan;
}

Plan set(const char *key, const char *value)
{
    auto next = withKeySet(example(), key, value);
    if (!next)
        qWarning("%s", toString(next.error()[0]).c_str());
    return next.value_or(Plan {});
}

Error fault(const char *key, const char *value)
{
    const auto next = withKeySet(example(), key, value);
    return next ? Error {} : next.error()[0];
}

/// Values of the same kind, of which a key has at least one in its range if it can be changed alone.
std::vector<test::Json> othersOf(const test::Json &value)
{
    if (value.is_boolean())
        return { !value.get<bool>() };
    if (value.is_number_integer())
        return { value.get<int>() + 1, value.get<int>() - 1, value.get<int>() / 2, 2 * value.get<int>() };
    if (value.is_number())
        return { value.get<double>() / 2, value.get<double>() + 0.25, 1.0 };
    std::vector<test::Json> others;
    for (const KeyRow &row : planKeys())
        others.insert(others.end(), row.choices.begin(), row.choices.end());
    others.push_back("another");
    return others;
}

/// "cluster.datacenters[0].id" as nlohmann has it: /cluster/datacenters/0/id.
test::Json::json_pointer pointerTo(const std::string &path)
{
    std::string pointer = "/";
    for (const char c : path) {
        if (c != ']')
            pointer += c == '.' || c == '[' ? '/' : c;
    }
    return test::Json::json_pointer(pointer);
}

} // namespace

class TstKeySet : public QObject {
    Q_OBJECT

private slots:
    void severalKeysAreSetAsOneAfterTheOther()
    {
        const std::vector<KeySetting> settings { { "parallelism.tensor", "8" }, { "parallelism.tensor", "4" },
            { "cluster.datacenters[0].pools[0].nodes", "9" }, { "stack.release", "26.02" } };
        Plan expected = example();
        for (const auto &[key, value] : settings)
            expected = withKeySet(expected, key, value).value_or(Plan {});
        QCOMPARE(withKeysSet(example(), settings).value_or(Plan {}), expected);
        QCOMPARE(expected.parallelism.tensor, 4);
        const std::vector<KeySetting> bad { { "parallelism.tensor", "8" }, { "parallelism.tensr", "8" } };
        QCOMPARE(withKeysSet(example(), bad).error(), withKeySet(example(), "parallelism.tensr", "8").error());
    }

    void aKeyAtItsDefaultCanBeSet()
    {
        QCOMPARE(set("parallelism.context", "4").parallelism.context, 4);
        QCOMPARE(set("moe.dispatch", "dedup").moe.dispatch, MoeDispatch::Dedup);
        QCOMPARE(set("memory.offload_fraction", "0.5").memory.offloadFraction, std::optional(0.5));
        QCOMPARE(set("cluster.datacenters[0].usd_per_kwh", "0.1").cluster.datacenters[0].usdPerKwh, std::optional(0.1));
        QCOMPARE(set("cluster.datacenters[0].pools[0].ssd.write_gbytes_per_s", "5")
                     .cluster.datacenters[0]
                     .pools[0]
                     .ssd->writeGBps,
            5.0);
    }

    void valuesParseAsJsonElseAsText()
    {
        QCOMPARE(set("schedule", "1f1b").schedule, ScheduleKind::OneFOneB);
        QCOMPARE(set("schedule", "\"gpipe\"").schedule, ScheduleKind::GPipe);
        QCOMPARE(set("parallelism.data", "auto").parallelism.data, std::nullopt);
        QCOMPARE(set("name", "2024").name, std::string("2024"));
        QCOMPARE(set("workload.training_tokens", "1.5e13").workload.trainingTokens, std::optional(1.5e13));
        QCOMPARE(set("placement.stages", R"([{"datacenter": "a", "stages": 3}])").placement.stages[0].stages, 3);
        QCOMPARE(set("workload.model", "models/my config.json").workload.model, std::string("models/my config.json"));
    }

    void nothingElseChanges()
    {
        Plan expected = example();
        expected.cluster.datacenters[0].pools[0].nodes = 9;
        QVERIFY(set("cluster.datacenters[0].pools[0].nodes", "9") == expected);
    }

    /// Each key of a written plan takes another value of its kind: in the file and by its path that is the same plan,
    /// and the value it had, with the text that the file has for it, brings the plan back.
    void everyKeyIsSetToAnotherValueAndBack()
    {
        int keys = 0;
        const int plans = test::trials(3);
        for (unsigned seed = 0; seed < unsigned(plans); ++seed) {
            const Plan plan = test::RandomPlan(seed).plan();
            const test::Json written = test::Json::parse(formatPlan(plan));
            test::eachLeaf(written, "", [&](const std::string &path, const test::Json &value) {
                if (path == "format" || path == "version" || path.find("x_") != std::string::npos)
                    return; // what the file keeps of others has keys of its own
                for (const test::Json &other : othersOf(value)) {
                    test::Json edited = written;
                    edited[pointerTo(path)] = other;
                    const auto expected = parsePlan(edited.dump(), "edited.json");
                    if (!expected || *expected == plan)
                        continue; // outside of its range, or not what another key asks for
                    const auto set = withKeySet(plan, path, other.dump());
                    QVERIFY2(set && *set == *expected, (path + " = " + other.dump()).c_str());
                    const auto back = withKeySet(*set, path, value.dump());
                    QVERIFY2(back && *back == plan, (path + " = " + value.dump()).c_str());
                    ++keys;
                    return;
                }
            });
        }
        QVERIFY2(keys > 60 * plans, std::to_string(keys).c_str());
    }

    void anUnknownKeyNamesTheNearest()
    {
        QCOMPARE(fault("parallelism.pipelin", "2").code, ErrorCode::UnknownKey);
        QCOMPARE(fault("parallelism.pipelin", "2").right, std::string("parallelism.pipeline"));
        QCOMPARE(fault("pipeline", "2").right, std::string("parallelism.pipeline"));
        QCOMPARE(fault("worklaod.model", "x").right, std::string("workload"));
        QCOMPARE(fault("cluster.datacenters[0].pools[0].node", "2").right,
            std::string("cluster.datacenters[0].pools[0].nodes"));
    }

    void aJobOfAGridHasNoKeysOfItsOwn()
    {
        Plan plan = example();
        plan.jobGrid.emplace().model = { "opt-125m" };
        const auto set = withKeySet(plan, "jobs[0].paused", "true");
        QVERIFY(!set && set.error()[0].right.find("those of job_grid have no keys") != std::string::npos);
    }

    void anIndexBeyondTheEndNamesTheSize()
    {
        const Error error = fault("cluster.datacenters[1].name", "x");
        QCOMPARE(error.code, ErrorCode::UnknownKey);
        QCOMPARE(error.what, std::string("cluster.datacenters has 1 entry"));
        QVERIFY(fault("placement.stages[0].stages", "2").what.find("has 0 entries") != std::string::npos);
        QVERIFY(fault("workload[0]", "2").what.find("not a list") != std::string::npos);
    }

    void aBadValueSaysWhatWouldBeRight()
    {
        const Error error = fault("cluster.datacenters[0].pools[0].nodes", "-4");
        QCOMPARE(error.code, ErrorCode::BadValue);
        QCOMPARE(error.where, std::string("cluster.datacenters[0].pools[0].nodes"));
        QCOMPARE(error.right, std::string("a whole number from 0 to 1000000"));
    }

    void malformedKeysAreRefused()
    {
        for (const char *key : { "", ".", "a..b", "workload.", ".workload", "cluster.datacenters[",
                 "cluster.datacenters[]", "cluster.datacenters[x]", "cluster.datacenters[-1]",
                 "cluster.datacenters[0]pools", "[0]", "version", "cluster.datacenters[99999999999999999999]" })
            QVERIFY2(fault(key, "1").code == ErrorCode::UnknownKey, key);
    }

    void aStackTakesOverridesByKey()
    {
        const Plan plan = set("stack.cuda_graphs", "true");
        QCOMPARE(plan.stack.name, std::string("megatron-core"));
        QCOMPARE(plan.stack.overrides.at("cuda_graphs"), 1.0);
        QCOMPARE(set("stack.base", "fsdp").stack.name, std::string("fsdp"));
    }

    void aReleaseIsATextAndNullTakesItAway()
    {
        QCOMPARE(set("stack.release", "26.10").stack.release, std::string("26.10"));
        QCOMPARE(set("stack.release", "\"26.02.01\"").stack.release, std::string("26.02.01"));
        const auto named = withKeySet(example(), "stack.release", "26.02");
        QVERIFY(named);
        const auto taken = withKeySet(*named, "stack.release", "null");
        QVERIFY(taken && *taken == example());
    }

    void aProfileCanBeGivenAndTaken()
    {
        auto given = withKeySet(example(), "profile", R"({"forward_ms": 1, "backward_ms": 2})");
        QVERIFY(given);
        given = withKeySet(*given, "profile.activation_mb", "100");
        QVERIFY(given);
        QCOMPARE(given->profile->activationMb, 100.0);
        const auto taken = withKeySet(*given, "profile", "null");
        QVERIFY(taken && *taken == example());
    }

    void keysOfTheFileAloneCanBeSetToo()
    {
        Plan plan = example();
        plan.extra["owner"] = "\"me\"";
        const auto next = withKeySet(plan, "owner", "you");
        QVERIFY(next);
        QCOMPARE(next->extra.at("owner"), std::string("\"you\""));
    }
};

TRAINYARD_APPLESS_TEST(TstKeySet)
#include "tst_key_set.moc"
