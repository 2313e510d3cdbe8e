// SPDX-License-Identifier: GPL-3.0-or-later
// What the bounds and short cuts of a search make of each key of a plan: asked of every key there is, so that a new one
// cannot be without an answer, and held to simulated iterations with other values of it.
#include "core/facts/plan/key_list.h"
#include "core/planner/score/batch_runner.h"
#include "core/planner/score/uniform_plan.h"
#include "tests/core/planner/score/score_claims.h"
#include "tests/core/planner/score/spaces.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

using namespace trainyard;
using namespace spaces;

namespace {

/// The answer to give for a new key. A list, a text or a section is answered for and not varied here.
enum class Bound {
    /// no time of an iteration depends on it
    NoTime,
    /// What it changes is in the costs, the memory and the placement that bounds
    /// (core/iteration/layouts/search_times.h,
    /// work_bound.h) and plain plans (uniform_plan.h) are made of. A key that hides work below those costs, so that an
    /// iteration is shorter than they add up to, breaks a bound: then the bound has to know of it.
    InCosts,
    /// Work beside the operations of the stages: the row says kOwnWork, or a group of neverPlain() has it.
    OwnWork,
    /// plans with jobs have no bounds
    OfJobs,
};

const char *const kAsk = " has no answer: say in this test what bounds make of it, and kOwnWork in its row where it is "
                         "work that plain plans have not";

std::map<std::string, Bound> answers()
{
    std::map<std::string, Bound> all;
    const auto give = [&](Bound bound, const std::string &section, const std::string &keys) {
        std::istringstream words(keys);
        for (std::string key; words >> key;)
            all[section + key] = bound;
    };
    give(Bound::NoTime, "", "name notes not_understood");
    give(Bound::NoTime, "not_understood[].", "key text low high blocking");
    give(Bound::InCosts, "",
        "cluster workload parallelism stack placement memory wan moe heterogeneity calibration profile layer_profiles");
    give(Bound::InCosts, "cluster.", "datacenters wan_links");
    give(Bound::NoTime, "cluster.datacenters[].", "name usd_per_kwh kg_co2_per_kwh");
    give(Bound::InCosts, "cluster.datacenters[].",
        "id latitude longitude fabric_gbps_per_gpu fabric_measured_gbytes_per_s fabric pools");
    give(Bound::NoTime, "cluster.datacenters[].pools[].", "usd_per_gpu_hour");
    give(Bound::InCosts, "cluster.datacenters[].pools[].", "id gpu nodes gpus_per_node ssd host");
    give(Bound::NoTime, "cluster.datacenters[].pools[].ssd.", "endurance_pb usd write_amplification retention_gain");
    give(Bound::InCosts, "cluster.datacenters[].pools[].ssd.", "write_gbytes_per_s read_gbytes_per_s gpus_sharing");
    give(Bound::InCosts, "cluster.datacenters[].pools[].host.", "memory_gib gbytes_per_s_per_gpu");
    give(Bound::NoTime, "cluster.wan_links[].", "usd_per_gb");
    give(Bound::InCosts, "cluster.wan_links[].",
        "between rtt_ms jitter_ms capacity_gbps node_pair_gbps tcp_window_mb cloud loss_rate");
    give(Bound::NoTime, "workload.", "training_tokens");
    give(Bound::InCosts, "workload.",
        "model sequence_length document_length global_batch micro_batch precision optimizer galore_rank");
    give(Bound::InCosts, "parallelism.",
        "tensor pipeline data context expert expert_tensor virtual_pipeline token_slices sequence_parallel zero_stage");
    give(Bound::OwnWork, "", "schedule");
    give(Bound::InCosts, "stack.", "base release");
    give(Bound::InCosts, "placement.", "mode stages stages[].datacenter stages[].stages layers");
    give(Bound::OwnWork, "memory.", "activation_offload optimizer_offload parameter_offload offload_expert_input");
    give(Bound::InCosts, "memory.",
        "recompute recompute_layers recompute_norms recompute_activation_function recompute_up_projection "
        "recompute_shared_experts offload_fraction offload_policy offload_min_elements "
        "offload_group offload_ahead delayed_update saved_activation_bits fp8_activations");
    give(Bound::OwnWork, "wan.", "sharing");
    give(Bound::InCosts, "wan.",
        "tcp_connections congestion_control cell turns all_reduce local_sgd local_steps fragments exchange_bits "
        "activation_bits gradient_bits");
    give(Bound::InCosts, "moe.",
        "dispatch overlap_chunks forward_chunks backward_chunks pipeline_backward shared_expert_overlap expert_overlap "
        "communication_sms imbalance load dropless capacity_factor baseline permute");
    give(Bound::OwnWork, "heterogeneity.", "compute state layers accumulation");
    give(Bound::InCosts, "heterogeneity.",
        "gather_prefetch boundary_offload uneven_collective_penalty accumulation_overhead_ms memory_fraction "
        "comm_buffer_gib released_state_fill assign assign[].datacenter assign[].pool assign[].gpus assign[].tensor "
        "assign[].micro_batch assign[].micro_batches assign[].state_share");
    give(Bound::OwnWork, "", "bubble_fill");
    give(Bound::OwnWork, "bubble_fill.", "enabled");
    give(Bound::NoTime, "bubble_fill.",
        "model stages arrivals requests_per_s burstiness trace prompt_tokens ttft_slo_ms guard_ms chaining kv_gbps "
        "first_token_from_decode usd_per_million_tokens seed served served[].model served[].requests_per_s "
        "served[].prompt_tokens prefill_batch batch_wait_ms decode decode.gpus decode.gpu decode.output_tokens");
    give(Bound::OfJobs, "", "jobs job_grid job_scheduler job_options");
    give(Bound::OfJobs, "jobs[].",
        "name model batch minibatches epochs sequence_length precision optimizer learning_rate arrival_s deadline_s "
        "priority gpus technique unit_ms pinned_gpus paused");
    give(
        Bound::OfJobs, "job_grid.", "model batch learning_rate sequence_length minibatches epochs precision optimizer");
    give(Bound::OfJobs, "job_options.",
        "double_buffer look_ahead remaining spill seed introspection_s switch_cost_s revocations_per_day checkpoint_s "
        "restart_s seconds");
    give(Bound::InCosts, "profile.",
        "forward_ms backward_ms recompute_ms weight_grad_ms paired_ms activation_mb gradient_mb parameters_mb "
        "in_flight");
    give(Bound::InCosts, "layer_profiles.", "all_gather_ms reduce_scatter_ms parameters layers");
    all["layer_profiles.<gpu id>"] = Bound::InCosts;
    give(Bound::InCosts, "layer_profiles.<gpu id>.", "forward_ms backward_ms compute_gib");
    return all;
}

Plan withExperts()
{
    Plan plan = test::oneSite(8, 2);
    plan.workload.model = "mixtral-8x7b";
    plan.workload.sequenceLength = 4096;
    plan.parallelism.tensor = 4;
    plan.parallelism.expert = 8;
    return plan;
}

Plan withOffload()
{
    Plan plan = test::oneSite(8);
    for (Pool &pool : plan.cluster.datacenters.front().pools) {
        pool.host = Host { .memoryGib = 2000, .gbytesPerSecondPerGpu = 20 };
        pool.ssd = Ssd { .writeGBps = 6, .readGBps = 6 };
    }
    return plan;
}

Plan withPrefill()
{
    Plan plan = test::oneSite(8);
    plan.bubbleFill.enabled = true;
    plan.bubbleFill.model = "llama-3-8b";
    plan.bubbleFill.requestsPerSecond = 10;
    return plan;
}

/// Plans in which another value of the key may matter.
std::vector<Plan> basesFor(const std::string &path)
{
    Plan shared = test::balanced(test::mixedReplicas());
    if (path.starts_with("heterogeneity."))
        return { test::mixedReplicas(), shared };
    if (path.starts_with("moe.") || path.starts_with("parallelism.expert"))
        return { withExperts() };
    if (path.starts_with("bubble_fill."))
        return { path.ends_with("enabled") ? test::oneSite(8) : withPrefill() };
    if (path.starts_with("wan.") || path == "placement.mode")
        return { test::threeSites(2, 6) };
    if (path.starts_with("memory."))
        return { withOffload() };
    return { test::oneSite(8), test::threeSites(2, 6) };
}

/// All of a flag or enum; of a number some that the row says, or some around what the plan has.
std::vector<KeyValue> valuesOf(const KeyRow &row, const Plan &plan)
{
    std::vector<KeyValue> values { row.value(plan) };
    const double from = row.value(plan).value_or(std::max(row.key.min, 1.0));
    std::vector<KeyValue> others = row.values(row.key.choice.values);
    if (row.kind == KeyKind::Whole || row.kind == KeyKind::Number)
        for (const double other : { 2 * from, from / 2, from + 1 })
            others.emplace_back(row.kind == KeyKind::Whole ? double(int(other)) : other);
    for (const KeyValue other : others) {
        const bool isInRange = row.kind == KeyKind::Flag || row.kind == KeyKind::Choice || !other
            || (*other <= row.key.max && (row.key.isAboveMin ? *other > row.key.min : *other >= row.key.min));
        const bool isTrace = row.path == "bubble_fill.arrivals" && other == double(Arrivals::Trace); // needs its file
        if (isInRange && !isTrace && std::ranges::find(values, other) == values.end())
            values.push_back(other);
    }
    return values;
}

/// The key with its values, between sizes of micro-batches and what is recomputed.
SearchSpace around(const Plan &plan, const KeyRow &row)
{
    Axis varied { row.axisId(), { row.path }, row.path, {}, 0 };
    for (const KeyValue value : valuesOf(row, plan))
        varied.values.push_back({ row.path, [&row, value](Plan &next) { row.set(next, value); } });
    std::vector<Axis> axes;
    if (row.path != "workload.micro_batch")
        axes.push_back(microBatch({ 1, 2 }));
    if (row.path != "memory.recompute" && row.path.starts_with("memory."))
        axes.push_back(recompute({ Recompute::None, Recompute::Full }));
    axes.push_back(std::move(varied));
    return space(plan, std::move(axes));
}

bool isNeverPlain(const Plan &plan)
{
    return std::ranges::any_of(neverPlain(), [&](const auto &isNot) { return isNot(plan); });
}

} // namespace

class KeyBoundsTest : public QObject {
    Q_OBJECT

    EvaluationWorkspace m_workspace;
    int m_bounded = 0, m_moved = 0;

    /// 0: it does not run.
    double secondsOf(const PlanPtr &plan)
    {
        const auto ran = run(plan, Depth::Score,
            { .catalogue = builtinCatalogue(), .workspace = m_workspace, .replicas = OpenReplicas::Most });
        return ran ? (*ran)->metrics.iterationTime.value_or(0) : 0;
    }

private slots:
    void everyKeyHasAnAnswer()
    {
        std::map<std::string, Bound> all = answers();
        for (const KeyRow &row : planKeys())
            QVERIFY2(all.erase(row.path) == 1, (row.path + kAsk).c_str());
        const std::string left = all.empty() ? "" : all.begin()->first; // QVERIFY2 makes its message either way
        QVERIFY2(all.empty(), (left + " is answered for, and no key").c_str());
    }

    void everyAnswerHolds_data()
    {
        QTest::addColumn<QString>("path");
        for (const KeyRow &row : planKeys())
            if (row.read && answers().contains(row.path) && answers().at(row.path) != Bound::OfJobs)
                QTest::newRow(row.path.c_str()) << QString::fromStdString(row.path);
    }
    /// No candidate is faster than its bounds, and what goes through the short cut is what run() says, with every value
    /// of the key; none but a key with work of its own keeps a plan from the short cut.
    void everyAnswerHolds()
    {
        QFETCH(QString, path);
        const KeyRow &row = planKey(path.toStdString());
        const Bound answer = answers().at(row.path);
        bool mayKeep = false;
        for (const Plan &base : basesFor(row.path)) {
            const SearchSpace space = around(base, row);
            const bool isPlain = !isNeverPlain(*space.base());
            std::vector<Candidate> candidates;
            for (std::uint64_t number = 0; number < space.size(); ++number)
                candidates.push_back(space.candidate(number));
            std::vector<Outcome> outcomes(candidates.size());
            BatchRunner(space, builtinCatalogue()).run(candidates, outcomes);
            Scorer scorer(space, builtinCatalogue());
            test::ClaimCounts counts;
            test::ClaimCheck check(space, counts);
            check.m_mayMove = true;
            std::map<std::vector<std::uint16_t>, std::set<double>> times;
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                const Score score = scorer.score(candidates[i]);
                check.check(candidates[i], score, scorer.leastWork(candidates[i]), scorer.reasonText(score.reason));
                const PlanPtr plan = space.plan(candidates[i]);
                const double seconds = secondsOf(plan);
                QCOMPARE(outcomes[i].isRun ? outcomes[i].seconds : 0, seconds);
                const bool keeps = isPlain && isNeverPlain(*plan);
                QVERIFY2(answer == Bound::OwnWork || !keeps, "it keeps a plan from being plain: that is OwnWork");
                mayKeep = mayKeep || keeps || !isPlain;
                std::vector<std::uint16_t> others(candidates[i].begin(), candidates[i].end() - 1);
                if (seconds > 0)
                    times[others].insert(seconds);
            }
            QVERIFY2(counts.broken.empty(), counts.broken.c_str());
            m_bounded += int(std::ranges::count_if(counts.tightness, [](double bound) { return bound > 0.1; }));
            for (const auto &[others, each] : times) {
                QVERIFY2(answer != Bound::NoTime || each.size() == 1, "a time depends on it");
                m_moved += each.size() > 1;
            }
        }
        QVERIFY2(answer != Bound::OwnWork || mayKeep, "no value of it keeps a plan from being plain");
        QVERIFY2(!row.key.hasOwnWork || answer == Bound::OwnWork, "its row says kOwnWork");
    }

    /// Else the checks above would see nothing.
    void boundsAreCloseAndKeysMatter()
    {
        qInfo("%d bounds of a tenth of the iteration or more; %d pairs of axes in which a key moves the time",
            m_bounded, m_moved);
        QVERIFY(m_bounded > 500 && m_moved > 75);
    }

    void jobsHaveNoBounds()
    {
        Plan plan = test::oneSite(1);
        plan.jobs = { { "one", "opt-1.3b" } };
        const KeyRow &row = rowOf(&JobOptions::spill);
        Axis spill { row.axisId(), { row.path }, row.path, {}, 0 };
        for (const KeyValue value : { KeyValue(1), KeyValue(0) })
            spill.values.push_back({ "", [&row, value](Plan &next) { row.set(next, value); } });
        const SearchSpace jobs = space(plan, { spill });
        Scorer scorer(jobs, builtinCatalogue());
        QCOMPARE(scorer.score(jobs.baseCandidate()).leastSeconds, 0.0);
        QCOMPARE(scorer.leastWork(jobs.baseCandidate()).seconds, 0.0);
    }
};

TRAINYARD_APPLESS_TEST(KeyBoundsTest)
#include "tst_key_bounds.moc"
