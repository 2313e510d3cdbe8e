// SPDX-License-Identifier: GPL-3.0-or-later
// Trainers that print a line, or a heading and lines below it, for each step, told apart by a table: NeMo Automodel
// ("step 9 | epoch 0 | loss 0.69 | mem 24.90 GiB | tps 11278.56(1409.82/gpu)"), MaxText ("completed step: 1, seconds:
// 5.670, TFLOP/s/device: 134.862"), nanoGPT ("iter 100: loss 4.23, time 250.31ms, mfu 35.20%"), llm.c ("step 2/18865 |
// loss 7.1 | 210.53 ms | 48.2% bf16 MFU"), prime-rl ("Step 5 | Time: 3.21s | Throughput: 12345 tokens/s"), verl
// ("step:5 - timing_s/step:23.4"), slime ("perf 5: {'perf/step_time': 12.3}"), OLMo-core ("[step=5/100,epoch=1]" and
// lines below) and llm-foundry ("[batch=5/100]:" and lines below). Values carry the names that the trainer gives them;
// the table says which of them are ours.
#include "core/base/units.h"
#include "core/runs/telemetry/readers/log_parser.h"
#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/sample_names.h"

#include <array>
#include <span>

namespace trainyard::readers {

namespace {

using namespace samples;

struct StepField {
    std::string_view theirs; // what stands before the value, or behind it where the value comes first
    const char *name;
    const char *unit;
    double factor = 1; // of a value without a unit of its own
};

constexpr auto kAutomodel = std::to_array<StepField>({
    { "mem", kMemoryAllocated, "B", kBytesPerGiB },
    { "tps", "log.tps", "1/s" },
});
constexpr auto kMaxText = std::to_array<StepField>({
    { "seconds", kStepTime, "s" },
    { "TFLOP/s/device", kTflopsPerGpu, "TFLOP/s" },
    { "Tokens/s/device", kTokensPerSecondPerGpu, "1/s" },
});
constexpr auto kNanoGpt = std::to_array<StepField>({
    { "time", kStepTime, "s", 1e-3 },
    { "mfu", kMfu, "1", 1e-2 },
});
constexpr auto kLlmC = std::to_array<StepField>({
    { "train loss", kLoss, "1" },
    { "norm", kGradNorm, "1" },
    { "ms", kStepTime, "s", 1e-3 },
    { "MFU", kMfu, "1", 1e-2 },
    { "tok/s", "log.tokens per second", "1/s" },
});
constexpr auto kPrimeRl = std::to_array<StepField>({
    { "Time", kStepTime, "s" },
    { "Loss", kLoss, "1" },
    { "Grad. Norm", kGradNorm, "1" },
    { "LR", kLearningRate, "1" },
    { "MFU", kMfu, "1", 1e-2 },
    { "Peak Mem.", kMemoryReserved, "B", kBytesPerGiB },
    { "Throughput", "log.tokens per second", "1/s" },
});
constexpr auto kVerl = std::to_array<StepField>({
    { "timing_s/step", kStepTime, "s" },
    { "perf/throughput", kTokensPerSecondPerGpu, "1/s" },
    { "perf/max_memory_allocated_gb", kMemoryAllocated, "B", kBytesPerGiB },
    { "perf/max_memory_reserved_gb", kMemoryReserved, "B", kBytesPerGiB },
    { "perf/mfu/actor", kMfu, "1" },
    { "actor/grad_norm", kGradNorm, "1" },
    { "actor/lr", kLearningRate, "1" },
    { "train/loss", kLoss, "1" },
    { "train/grad_norm", kGradNorm, "1" },
    { "train/lr", kLearningRate, "1" },
    { "train/time(s)", kStepTime, "s" },
});
constexpr auto kSlime = std::to_array<StepField>({
    { "perf/step_time", kStepTime, "s" },
    { "perf/actor_train_tflops", kTflopsPerGpu, "TFLOP/s" },
    { "train/loss", kLoss, "1" },
    { "train/grad_norm", kGradNorm, "1" },
});
constexpr auto kOlmo = std::to_array<StepField>({
    { "train/CE loss", kLoss, "1" },
    { "optim/total grad norm", kGradNorm, "1" },
    { "throughput/device/TPS", kTokensPerSecondPerGpu, "1/s" },
    { "throughput/device/MFU", kMfu, "1", 1e-2 },
    { "system/GPU active mem (GiB)", kMemoryAllocated, "B", kBytesPerGiB },
    { "system/GPU reserved mem (GiB)", kMemoryReserved, "B", kBytesPerGiB },
});
constexpr auto kFoundry = std::to_array<StepField>({
    { "loss/train/total", kLoss, "1" },
    { "throughput/device/tokens_per_sec", kTokensPerSecondPerGpu, "1/s" },
    { "throughput/device/flops_per_sec", kTflopsPerGpu, "TFLOP/s", 1e-12 },
    { "throughput/device/mfu", kMfu, "1" },
    { "memory/peak_allocated_mem", kMemoryAllocated, "B", 1e9 },
    { "memory/peak_reserved_mem", kMemoryReserved, "B", 1e9 },
    { "l2_norm/grad/global", kGradNorm, "1" },
});

enum class Pieces : std::uint8_t {
    Bars, // "key 1 | key: 2 | 3 unit"
    Commas,
    Dashes, // "key:1 - key:2"
    Dict, // {'key': 1}
    Below, // lines that follow the heading
};

struct StepTrainer {
    const char *name; // of the trainer
    std::string_view before; // the number of the step
    std::array<std::string_view, 2> has; // behind it
    Pieces pieces;
    std::span<const StepField> fields;
};

constexpr auto kTrainers = std::to_array<StepTrainer>({
    { "NeMo Automodel", "step ", { " | epoch ", " | tps " }, Pieces::Bars, kAutomodel },
    { "MaxText", "completed step: ", { "seconds: ", "Tokens/s/device" }, Pieces::Commas, kMaxText },
    { "nanoGPT", "iter ", { ": loss ", ", time " }, Pieces::Commas, kNanoGpt },
    { "llm.c", "step ", { " ms |", " tok/s" }, Pieces::Bars, kLlmC },
    { "prime-rl", "Step ", { "| Time: ", "Throughput: " }, Pieces::Bars, kPrimeRl },
    { "verl", "step:", { " - ", "timing_s/step:" }, Pieces::Dashes, kVerl },
    { "verl", "step:", { " - train/loss:", "" }, Pieces::Dashes, kVerl },
    { "slime", "perf ", { ": {", "perf/" }, Pieces::Dict, kSlime },
    { "OLMo-core", "[step=", { "/", ",epoch=" }, Pieces::Below, kOlmo },
    { "llm-foundry", "[batch=", { "/", "]:" }, Pieces::Below, kFoundry },
});

/// Of a value with a unit of its own, what makes seconds, bytes or a share of it; 0: it has none.
double factorOf(std::string_view behindValue, std::string_view unit)
{
    const std::string_view word = trimmedStart(behindValue);
    const auto is = [&](std::string_view own) { return word.starts_with(own); };
    if (unit == "s")
        return is("ms") ? 1e-3 : is("us") ? 1e-6 : is("s") ? 1 : 0;
    if (unit == "B")
        return is("GiB") ? kBytesPerGiB : is("MiB") ? kBytesPerGiB / 1024 : is("GB") ? 1e9 : is("MB") ? 1e6 : 0;
    return unit == "1" && is("%") ? 1e-2 : 0;
}

class StepLines : public LogParser {
public:
    StepLines()
        : LogParser(SourceKind::StepLog, "steps")
    {
    }

    bool take(const TextLine &line) override
    {
        for (const StepTrainer &trainer : kTrainers)
            if (const auto rest = behindStep(line.text, trainer)) {
                begin(line, trainer, *rest);
                return true;
            }
        return m_below && takeBelow(line.text);
    }

protected:
    void finish() override
    {
        timesFromStamps(true);
        drop(m_told, "lines that several ranks print of one step", m_repeats);
    }

private:
    /// What stands behind the number of the step, which m_number becomes; nothing where it is no line of the trainer.
    std::optional<std::string_view> behindStep(std::string_view text, const StepTrainer &trainer)
    {
        const std::size_t at = text.find(trainer.before);
        if (at == text.npos || (at > 0 && isNameChar(text[at - 1])))
            return std::nullopt;
        std::string_view rest = trimmedStart(text.substr(at + trainer.before.size()));
        const auto step = takeWhole(rest);
        for (const std::string_view part : trainer.has)
            if (!step || rest.find(part) == rest.npos)
                return std::nullopt;
        m_number = *step;
        m_front = text.substr(0, at);
        return rest;
    }

    void begin(const TextLine &line, const StepTrainer &trainer, std::string_view rest)
    {
        sure(90);
        note(m_told, std::string("Its lines are those of ") + trainer.name);
        m_below = nullptr;
        const auto stamp = printedAt(line, m_front);
        const bool isOther = !stamp && m_process && *m_process != line.process; // the first that printed is the one
        if (!stamp && !m_process)
            m_process = line.process;
        m_isRepeat = isOther || follow(m_number, stamp, line) == Progress::Repeated;
        m_repeats += m_isRepeat;
        if (trainer.pieces == Pieces::Below)
            m_below = &trainer;
        else if (!m_isRepeat)
            takePieces(rest, trainer);
        timesFromStamps(false);
    }

    void takePieces(std::string_view rest, const StepTrainer &trainer)
    {
        if (takeText(rest, "/"))
            takeWhole(rest); // of so many
        const std::string_view between = trainer.pieces == Pieces::Dashes ? " - "
            : trainer.pieces == Pieces::Bars                              ? "|"
                                                                          : ",";
        while (!rest.empty()) {
            const std::size_t end = rest.find(between);
            takePiece(trimmed(rest.substr(0, end)), trainer);
            rest = end == rest.npos ? std::string_view() : rest.substr(end + between.size());
        }
    }

    /// "key: 1", "key=1", "key 1 unit", "'key': 1" or "1 unit key".
    void takePiece(std::string_view piece, const StepTrainer &trainer)
    {
        while (!piece.empty() && std::string_view(":{'\" \t").find(piece.front()) != std::string_view::npos)
            piece.remove_prefix(1);
        if (auto first = piece; const auto value = takeNumber(first)) {
            const std::size_t word = trimmedStart(first).find_last_of(' ');
            const std::string_view last = trimmed(word == first.npos ? first : trimmedStart(first).substr(word));
            for (const StepField &field : trainer.fields)
                if (field.theirs == last)
                    add(field, *value, first);
            return;
        }
        std::size_t split = piece.find_first_of(":=");
        if (split == piece.npos)
            split = piece.find_last_of(' ', piece.find_first_of("0123456789"));
        if (split == piece.npos || split > 80)
            return;
        std::string_view key = trimmed(piece.substr(0, split)), behind = trimmedStart(piece.substr(split + 1));
        while (!key.empty() && (key.back() == '\'' || key.back() == '"' || key.back() == ':'))
            key.remove_suffix(1);
        for (const std::string_view prefix : { "np.float64(", "np.float32(", "Train " }) {
            takeText(behind, prefix);
            takeText(key, prefix);
        }
        const auto value = takeNumber(behind);
        if (!value || key.empty())
            return;
        for (const StepField &field : trainer.fields)
            if (field.theirs == key)
                return addOf(field, *value, behind, trainer);
        addField(key, *value, m_number);
    }

    void addOf(const StepField &field, double value, std::string_view behind, const StepTrainer &trainer)
    {
        add(field, value, behind);
        if (trainer.fields.data() == kAutomodel.data() && field.theirs == "tps" && takeText(behind, "("))
            if (const auto ofGpu = takeNumber(behind); ofGpu && behind.starts_with("/gpu"))
                m_book.addStep(kTokensPerSecondPerGpu, "1/s", m_number, *ofGpu);
    }

    void add(const StepField &field, double value, std::string_view behind)
    {
        if (std::string_view(field.name) == kMfu && value < 0) // nanoGPT's before it has one
            return;
        const double own = factorOf(behind, field.unit);
        if (std::string_view(field.name) == kStepTime)
            addField("step time", value * (own > 0 ? own : field.factor), m_number);
        else
            m_book.addStep(field.name, field.unit, m_number, value * (own > 0 ? own : field.factor));
    }

    /// "    throughput/device/TPS=12,345" or "\t Train loss/train/total: 11.2".
    bool takeBelow(std::string_view text)
    {
        const bool isIndented = !text.empty() && (text.front() == ' ' || text.front() == '\t');
        const std::size_t split = text.find_first_of(":=");
        if (!isIndented || split == text.npos) {
            m_below = nullptr;
            return false;
        }
        if (!m_isRepeat && leadingNumber(trimmedStart(text.substr(split + 1))))
            takePiece(trimmed(text), *m_below);
        return true;
    }

    const StepTrainer *m_below = nullptr; // whose lines may follow
    std::int64_t m_number = 0, m_repeats = 0;
    std::optional<int> m_process;
    std::string_view m_front; // of the line, before the step
    bool m_isRepeat = false;
};

} // namespace

LogParserPtr makeStepLinesParser()
{
    return std::make_unique<StepLines>();
}

} // namespace trainyard::readers
