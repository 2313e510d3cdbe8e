// SPDX-License-Identifier: GPL-3.0-or-later
// One drop: what a run left behind gives its plan, the prediction, the steps and the verdict, or says what is missing.
#include "core/runs/overlay/judge_run.h"
#include "tests/support/test_program.h"

#include "tests/core/runs/overlay/small_runs.h"
#include "tests/support/plans.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Ten steps, and the arguments of a job of Llama 3 8B.
Recording recorded(std::map<std::string, std::string> more = {})
{
    SmallRecording made;
    made.series(samples::kStepTime, 1, std::vector<double>(10, 4.0));
    made.m_recording.arguments = { { "num_layers", "32" }, { "hidden_size", "4096" }, { "ffn_hidden_size", "14336" },
        { "num_attention_heads", "32" }, { "num_query_groups", "8" }, { "group_query_attention", "True" },
        { "swiglu", "True" }, { "normalization", "RMSNorm" }, { "position_embedding_type", "rope" },
        { "untie_embeddings_and_output_weights", "True" }, { "disable_bias_linear", "True" },
        { "padded_vocab_size", "128256" }, { "seq_length", "8192" }, { "global_batch_size", "64" },
        { "micro_batch_size", "1" }, { "tensor_model_parallel_size", "8" }, { "world_size", "32" }, { "bf16", "True" },
        { "attention_dropout", "0.0" }, { "hidden_dropout", "0.0" }, { "use_distributed_optimizer", "True" } };
    for (auto &[name, value] : more)
        made.m_recording.arguments[name] = value;
    return made.m_recording;
}

JudgedRun judged(Recording recording, const JudgeOptions &options = {})
{
    auto made = judgeRun(std::move(recording), builtinCatalogue(), options);
    if (!made)
        qFatal("%s", toString(made.error().front()).c_str());
    return *std::move(made);
}

} // namespace

class TestJudgeRun : public QObject {
    Q_OBJECT
private slots:
    void aRecordingAloneIsEnough()
    {
        const JudgedRun made = judged(recorded());
        QVERIFY(made.imported && made.verdict);
        QCOMPARE(made.evaluation->plan->cluster.gpus(), 32);
        QCOMPARE(made.verdict->measuredSeconds, 4.0);
        QCOMPARE(made.verdict->parts.size(), std::size_t(1));
        QVERIFY(hasNote(made.verdict->doubts, "The type of GPU is told by no source"));
        QVERIFY(hasNote(made.verdict->doubts, "one node of eight H100"));
        QVERIFY(made.verdict->headline.find("nobody told") == std::string::npos); // the catalogue has that model
    }

    void whatIsKnownBetterReplacesWhatIsAssumed()
    {
        JudgeOptions options;
        options.amend = [](Plan plan) -> ExpectedAll<Plan> {
            plan.cluster.datacenters[0].pools[0].gpu = "a100-sxm-80gb";
            return plan;
        };
        const JudgedRun made = judged(recorded(), options);
        QVERIFY(made.verdict && !hasNote(made.verdict->doubts, "The type of GPU"));
        QVERIFY(made.verdict->predictedSeconds > judged(recorded()).verdict->predictedSeconds);
        JudgeOptions given;
        given.plan = std::make_shared<const Plan>(oneSite(4));
        const JudgedRun under = judged(recorded(), given);
        QVERIFY(!under.imported && under.verdict);
        // The range is the plan's own: 4 s lie in it or not, and the sentence says which
        const Confidence &range = under.evaluation->metrics.confidence;
        QVERIFY(range.iterationLow && range.iterationHigh && under.evaluation->feasible());
        QCOMPARE(under.verdict->isInRange, *range.iterationLow <= 4.0 && 4.0 <= *range.iterationHigh);
        QCOMPARE(under.verdict->headline.find("n range: ") != std::string::npos, under.verdict->isInRange);
    }

    void aPercentageIsOfAModelThatWasTold()
    {
        SmallRecording made;
        made.series(samples::kStepTime, 1, std::vector<double>(10, 4.0));
        made.series(samples::kMemoryReserved, 1, { 40e9 });
        const JudgedRun unknown = judged(made.m_recording); // tells nothing of a plan
        QVERIFY(unknown.verdict && unknown.imported && unknown.imported->isModelAssumed);
        QVERIFY2(unknown.verdict->headline.starts_with("A step takes 4.00 s. How much was to be expected is open"),
            unknown.verdict->headline.c_str());
        QVERIFY(!unknown.verdict->isInRange && unknown.verdict->causes.empty());
        QVERIFY(!unknown.verdict->isCompared && unknown.verdict->parts.empty());
        QVERIFY(unknown.verdict->memory->parts.empty());
        QCOMPARE(unknown.verdict->memory->headline, "40.0 GB reserved on the fullest GPU");
        JudgeOptions based;
        based.base = std::make_shared<const Plan>(oneSite(4));
        const JudgedRun known = judged(made.m_recording, based);
        QVERIFY(known.verdict && known.verdict->headline.find("than predicted") != std::string::npos);
        QVERIFY(known.verdict->isCompared && !known.verdict->parts.empty());
        SmallRecording young;
        young.series(samples::kStepTime, 1, { 4.0 });
        QVERIFY(judged(young.m_recording).verdict->headline.starts_with("The first iteration alone"));
    }

    void logsOfSeveralJobsMakeNoVerdict()
    {
        SmallRecording made;
        made.m_recording.sources = { { .file = "a/one.log", .kind = SourceKind::MegatronLog },
            { .file = "a/two.log", .kind = SourceKind::MegatronLog } };
        made.series(samples::kStepTime, 1, std::vector<double>(10, 4.0));
        made.series(samples::kGlobalBatch, 1, { 768, 768 });
        made.m_recording.series.back().source = 0;
        made.series(samples::kGlobalBatch, 1, { 128, 128 });
        made.m_recording.series.back().source = 1;
        const auto refused = judgeRun(made.m_recording, builtinCatalogue());
        QVERIFY(!refused);
        QVERIFY2(refused.error().front().what.find("global batch 768 (one.log), 128 (two.log)") != std::string::npos,
            toString(refused.error().front()).c_str());
        // A batch that grows over the attempts of one job is no other job
        made.m_recording.series.back().value = { 768, 1536 };
        QVERIFY(judgeRun(made.m_recording, builtinCatalogue()).has_value());
    }

    void whatIsMissingIsSaid()
    {
        Recording noSteps = recorded();
        noSteps.series.clear();
        const JudgedRun young = judged(noSteps);
        QVERIFY(!young.verdict && young.evaluation->metrics.iterationTime && young.imported);
        QVERIFY(young.verdict.error().what.find("tells no step") != std::string::npos);
        // 32 GPUs hold no stage of a plan of 64
        JudgeOptions large;
        large.amend = [](Plan plan) -> ExpectedAll<Plan> {
            plan.parallelism.pipeline = 64;
            plan.parallelism.data = 1;
            return plan;
        };
        const JudgedRun impossible = judged(recorded(), large);
        QVERIFY(!impossible.verdict && !impossible.verdict.error().what.empty());
        JudgeOptions wrong;
        wrong.amend = [](Plan) -> ExpectedAll<Plan> {
            return std::unexpected(Errors { { ErrorCode::BadValue, "here", "is wrong", "right" } });
        };
        const auto refused = judgeRun(recorded(), builtinCatalogue(), wrong);
        QVERIFY(!refused && refused.error().front().where == "here");
        QVERIFY(!judgeRun(Recording(), builtinCatalogue()).has_value()); // neither a plan nor a run
        std::stop_source stop;
        stop.request_stop();
        JudgeOptions stopped;
        stopped.stop = stop.get_token();
        const auto cancelled = judgeRun(recorded(), builtinCatalogue(), stopped);
        QVERIFY(!cancelled && cancelled.error().front().code == ErrorCode::Cancelled);
    }
};

TRAINYARD_GUILESS_TEST(TestJudgeRun)
#include "tst_judge_run.moc"
