// SPDX-License-Identifier: GPL-3.0-or-later
// The description of the keys against everything that comes from it: files, schema, --set, sentences, what is learned.
#include "core/facts/plan/key_list.h"
#include "tests/support/test_program.h"

#include "core/facts/plan/plan_diff.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/json_schema.h"

#include <QTest>

#include <cmath>
#include <set>
#include <stdexcept>

using namespace trainyard;
using test::Json, test::addPaths, test::addSchemaPaths;

namespace {

/// One of everything, and every condition holds: two datacenters that train apart, a rank to project to, bursts of
/// requests.
Plan fullPlan()
{
    Plan plan;
    plan.workload.model = "llama-3-8b";
    plan.workload.globalBatch = 64;
    plan.workload.optimizer = Optimizer::Galore;
    plan.notUnderstood = { { "--moe-router-topk", "one expert is assumed", 0, 0.5, false, {} } };
    for (const char *id : { "a", "b" }) {
        Datacenter &datacenter = plan.cluster.datacenters.emplace_back();
        datacenter.id = id;
        Pool &pool = datacenter.pools.emplace_back();
        pool.id = std::string(id) + "-h100";
        pool.gpu = "h100-sxm-80gb";
        pool.nodes = 4;
        pool.ssd = Ssd { .writeGBps = 5, .readGBps = 6 };
        pool.host = Host { .memoryGib = 1024 };
    }
    plan.cluster.wanLinks.emplace_back().between = { "a", "b" };
    plan.stack = { "megatron-core", { { "cuda_graphs", 1 } } };
    plan.placement.stages = { { "a", 1, {} } };
    plan.wan.sharing = WanSharing::Temporal;
    plan.wan.localSgd = LocalSgd::Streaming;
    plan.bubbleFill.enabled = true;
    plan.bubbleFill.arrivals = Arrivals::Bursty;
    ServedModel served;
    served.model = "gpt-3-1.3b";
    served.requestsPerSecond = 20;
    plan.bubbleFill.served.push_back(served);
    plan.bubbleFill.decode.gpus = 8;
    plan.bubbleFill.decode.gpu = "h100-sxm-80gb";
    plan.jobs = { { "one", "opt-1.3b" } };
    plan.heterogeneity.assign = { { .datacenter = "a", .pool = "a-h100" } };
    plan.profile.emplace();
    plan.profile->forwardMs = { 1 };
    plan.profile->backwardMs = { 2 };
    return plan;
}

/// The path with the first of each list: cluster.wan_links[0].rtt_ms.
std::string firstOf(std::string path)
{
    for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]"))
        path.insert(at + 1, "0");
    return path;
}

bool isScalar(const KeyRow &row)
{
    return row.kind != KeyKind::Section && row.kind != KeyKind::List && row.kind != KeyKind::Other;
}

/// As a plan file has it, or null.
Json valueAt(const Plan &plan, const std::string &path)
{
    Json value = Json::parse(formatPlan(plan));
    std::string rest = firstOf(path);
    while (!rest.empty() && !value.is_null()) {
        const std::size_t end = std::min(rest.find_first_of(".["), rest.size());
        const std::string step = rest.substr(0, end);
        if (!step.empty())
            value = value.is_object() ? value.value(step, Json()) : Json();
        rest.erase(0, end);
        if (rest.starts_with("[0]")) {
            value = value.is_array() && !value.empty() ? Json(value.at(0)) : Json();
            rest.erase(0, 3);
        }
        if (rest.starts_with('.'))
            rest.erase(0, 1);
    }
    return value;
}

/// A value that the key may have and the plan has not; nor is it the default, where there is a third.
Json otherValue(const KeyRow &row, const Plan &plan)
{
    const Json now = valueAt(plan, row.path);
    if (row.kind == KeyKind::Flag)
        return now.is_null() ? row.standard != "true" : now != Json(true);
    if (row.kind == KeyKind::Text)
        return "other";
    if (row.kind == KeyKind::Choice) {
        const auto isOther = [&](const std::string &choice) { return now != Json(choice); };
        const auto found = std::ranges::find_if(
            row.choices, [&](const std::string &choice) { return isOther(choice) && choice != row.standard; });
        return found != row.choices.end() ? *found : *std::ranges::find_if(row.choices, isOther);
    }
    const double low = row.key.isAboveMin ? row.key.min + 0.25 : row.key.min, high = std::min(row.key.max, low + 7);
    for (const double value : { row.kind == KeyKind::Whole ? low + 2 : (low + high) / 3, low, high }) {
        if (value <= row.key.max && now != Json(value)
            && !(Json::accept(row.standard) && Json::parse(row.standard) == Json(value)))
            return row.kind == KeyKind::Whole ? Json(std::int64_t(value)) : Json(value);
    }
    return nullptr;
}

std::string asText(const Json &value)
{
    return value.is_string() ? value.get<std::string>() : value.dump();
}

} // namespace

class TstKeyList : public QObject {
    Q_OBJECT

    const Plan m_plan = fullPlan();

    template <class Check> void eachOther(Check check) const
    {
        int checked = 0;
        for (const KeyRow &row : planKeys()) {
            if (!isScalar(row))
                continue;
            const Json value = otherValue(row, m_plan);
            QVERIFY2(!value.is_null(), row.path.c_str());
            const auto next = withKeySet(m_plan, firstOf(row.path), asText(value));
            QVERIFY2(next, (row.path + "=" + asText(value) + ": " + (next ? "" : toString(next.error()[0]))).c_str());
            check(row, value, *next);
            ++checked;
        }
        QVERIFY(checked > 90);
    }

private slots:
    /// By JSON, which shares nothing with offsets.
    void aRowReadsAndWritesItsMember()
    {
        int checked = 0;
        for (const KeyRow &row : planKeys()) {
            if (!row.read)
                continue;
            Plan plan = m_plan;
            const Json other = otherValue(row, m_plan);
            const double number = other.is_boolean() ? double(other.get<bool>())
                : other.is_string()
                ? double(std::ranges::find(row.choices, other.get<std::string>()) - row.choices.begin())
                : other.get<double>();
            row.set(plan, number);
            QCOMPARE(row.value(plan), KeyValue(number));
            QVERIFY2(plan == *withKeySet(m_plan, row.path, asText(other)), row.path.c_str());
            ++checked;
        }
        QVERIFY2(checked > 85, qPrintable(QString::number(checked)));
        Plan plan = m_plan;
        plan.bubbleFill.kvGbps = 100;
        rowOf(&BubbleFill::kvGbps).set(plan, {});
        QVERIFY(!plan.bubbleFill.kvGbps && !rowOf(&BubbleFill::kvGbps).value(plan));
    }

    void aMemberHasItsRow()
    {
        QCOMPARE(rowOf(&Parallelism::tensor).path, std::string("parallelism.tensor"));
        QCOMPARE(rowOf(&WorkloadSpec::sequenceLength).path, std::string("workload.sequence_length"));
        QCOMPARE(rowOf(&WanStrategy::tcpConnections).path, std::string("wan.tcp_connections"));
        QCOMPARE(rowOf(&Placement::stages).path, std::string("placement.stages"));
        QCOMPARE(rowOf(&Stack::release).path, std::string("stack.release"));
        QCOMPARE(rowOf(&Plan::schedule).path, std::string("schedule"));
        QVERIFY_THROWS_EXCEPTION(std::logic_error, static_cast<void>(rowOf(&Plan::baseDir))); // which no file has
    }

    /// Else two switches, or two axes, would be one.
    void noTwoSwitchesHaveOneId()
    {
        std::set<std::string> axes, groups, labels;
        for (const KeyRow &row : planKeys()) {
            if (!*row.key.choice.label) {
                QVERIFY2(!row.key.choice.isOffered && !row.key.choice.isTried, row.path.c_str());
                continue;
            }
            QVERIFY2(axes.insert(row.axisId()).second, row.path.c_str());
            QVERIFY2(groups.insert(row.group()).second, row.path.c_str());
            QVERIFY2(labels.insert(row.key.choice.label).second, row.path.c_str());
        }
        QVERIFY2(labels.size() > 60, qPrintable(QString::number(labels.size())));
    }

    void valuesWorthTryingAreInTheKeysRange()
    {
        for (const KeyRow &row : planKeys())
            for (const std::span<const double> values : { row.key.choice.values, row.key.choice.tried })
                for (const double value : values)
                    QVERIFY2(withKeySet(
                                 m_plan, row.path, asText(row.kind == KeyKind::Whole ? Json(int(value)) : Json(value))),
                        row.path.c_str());
    }

    void numbersAreListedWithThePlansOwnAndOneOfThemHasNoPlural()
    {
        const KeyRow &bits = rowOf(&MemoryStrategy::savedActivationBits), &cell = rowOf(&WanStrategy::cell);
        Plan plan = m_plan;
        plan.memory.savedActivationBits = 5;
        plan.wan.cell = 5;
        using List = std::vector<KeyValue>;
        QCOMPARE(bits.values(plan, bits.key.choice.values), (List { {}, 8, 5, 4, 2 }));
        QCOMPARE(cell.values(plan, cell.key.choice.values), (List { {}, 1, 2, 3, 4, 5, 6, 8, 12, 16 }));
        QCOMPARE(cell.tried(), (List { {}, 2, 4, 8 }));
        QCOMPARE(bits.tried(), (List { {}, 8, 4, 2 }));
        QCOMPARE(cell.shownText(1), std::string("1 pipeline"));
        QCOMPARE(cell.shownText(4), std::string("4 pipelines"));
        QCOMPARE(bits.fileText({}), std::string("off"));
        QCOMPARE(rowOf(&MemoryStrategy::recomputeLayers).shownText(1), std::string("1 per stage"));
    }

    void theSchemaHasTheKeysThatAreDescribedAndNoOther()
    {
        std::set<std::string> inSchema, described { "format", "version" };
        addSchemaPaths(Json::parse(planSchema()), "", inSchema);
        for (const KeyRow &row : planKeys())
            described.insert(row.path);
        for (const std::string &path : described)
            QVERIFY2(inSchema.contains(path), path.c_str());
        for (const std::string &path : inSchema) {
            // fields of inline objects and of stacks come from the catalogue, and have tests there
            const bool isOfCatalogue = path.find(".gpu.") != std::string::npos || path.starts_with("workload.model.")
                || path.starts_with("stack.") || path.starts_with("calibration."); // those of factors: tst_calibrated
            QVERIFY2(isOfCatalogue || described.contains(path), path.c_str());
        }
    }

    void everyKeyThatIsDescribedIsSetByItsPathAndWritten()
    {
        eachOther([&](const KeyRow &row, const Json &value, const Plan &next) {
            QVERIFY2(!(next == m_plan), row.path.c_str());
            const Json written = valueAt(next, row.path);
            QVERIFY2(written == value, (row.path + ": " + written.dump() + " for " + value.dump()).c_str());
            const auto back = parsePlan(formatPlan(next), "p.json");
            QVERIFY2(back && *back == next, row.path.c_str());
        });
    }

    void everyKeyThatIsDescribedIsSaidInADifference()
    {
        eachOther([&](const KeyRow &row, const Json &, const Plan &next) {
            const auto sentences = describeDifferences(m_plan, next);
            QVERIFY2(
                !sentences.empty() && describeDifferences(next, m_plan).size() == sentences.size(), row.path.c_str());
        });
    }

    void aNumberBelowItsRangeIsRefusedWithTheRange()
    {
        int refused = 0;
        for (const KeyRow &row : planKeys()) {
            if (row.kind != KeyKind::Number && row.kind != KeyKind::Whole)
                continue;
            const double below = row.key.isAboveMin ? row.key.min : row.key.min - 1;
            const auto next = withKeySet(m_plan, firstOf(row.path), std::to_string(std::int64_t(below)));
            QVERIFY2(!next && next.error()[0].code == ErrorCode::BadValue, row.path.c_str());
            QVERIFY2(next.error()[0].right.find(row.key.isAboveMin ? " above " : " from ") != std::string::npos,
                row.path.c_str());
            ++refused;
        }
        QVERIFY(refused > 60);
    }

    void whatAffectsConvergenceIsThis()
    {
        const std::set<std::string> expected { "workload.precision", "workload.optimizer", "workload.galore_rank",
            "memory.delayed_update", "memory.saved_activation_bits", "memory.fp8_activations", "wan.local_sgd",
            "wan.local_steps", "wan.fragments", "wan.exchange_bits", "wan.activation_bits", "wan.gradient_bits",
            "moe.dropless", "moe.capacity_factor" };
        eachOther([&](const KeyRow &row, const Json &, const Plan &next) {
            QVERIFY2(changesTraining(m_plan, next) == expected.contains(row.path), row.path.c_str());
        });
    }

    void anApproximationThatIsTakenBackIsNone()
    {
        for (const char *key : { "memory.delayed_update", "memory.fp8_activations", "memory.saved_activation_bits",
                 "wan.activation_bits", "wan.gradient_bits" }) {
            const auto rough = withKeySet(m_plan, key, planKey(key).kind == KeyKind::Flag ? "true" : "8");
            QVERIFY2(rough && changesTraining(m_plan, *rough), key);
            QVERIFY2(!changesTraining(*rough, m_plan), key);
        }
        Plan together = m_plan;
        together.wan.localSgd = LocalSgd::None;
        QVERIFY(changesTraining(together, m_plan) && !changesTraining(m_plan, together));
        Plan otherSteps = together; // and of replicas that do not train apart, steps say nothing
        otherSteps.wan.localSteps = 7;
        QVERIFY(!changesTraining(together, otherSteps));
    }

    void aKeyAppliesWhereItsSectionDoesAndItsOwnConditionHolds()
    {
        Plan plan = m_plan;
        for (const char *key :
            { "wan.cell", "wan.local_steps", "bubble_fill.burstiness", "workload.galore_rank", "placement.mode" })
            QVERIFY2(planKey(key).applies(plan), key);
        plan.cluster.datacenters.pop_back();
        plan.bubbleFill.arrivals = Arrivals::Poisson;
        plan.workload.optimizer = Optimizer::Adam;
        for (const char *key :
            { "wan.cell", "wan.tcp_connections", "bubble_fill.burstiness", "workload.galore_rank", "placement.mode" })
            QVERIFY2(!planKey(key).applies(plan), key);
        QVERIFY(planKey("bubble_fill.requests_per_s").applies(plan) && planKey("parallelism.tensor").applies(plan));
    }
};

TRAINYARD_APPLESS_TEST(TstKeyList)
#include "tst_key_list.moc"
