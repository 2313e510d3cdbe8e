// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of Hugging Face's Trainer: a Python dict at each logging step, between the redrawn progress bars of tqdm, which
// alone tell the step ("  3%|###   | 12/345 [00:07<06:50,  1.23s/it]").
#include "core/runs/telemetry/readers/hf_trainer.h"
#include "core/runs/telemetry/readers/log_parser.h"
#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/sample_names.h"

#include <array>

namespace trainyard::readers {

namespace {

using namespace samples;

constexpr const char *kMeanStepTime = "log.mean_step_time";

struct Bar {
    std::int64_t count = 0, total = 0;
    double secondsPerStep = 0; // smoothed; 0: not known yet
};

/// The last bar of the line. Bars with a name in front ("Loading checkpoint shards:  50%|") are not of steps.
std::optional<Bar> barIn(std::string_view text)
{
    std::string_view start = trimmedStart(text);
    if (!takeWhole(start) || !takeText(start, "%|"))
        return std::nullopt;
    std::size_t rate = text.rfind("it/s");
    if (rate == text.npos)
        rate = text.rfind("s/it");
    const std::size_t bracket = rate == text.npos ? text.npos : text.rfind(" [", rate);
    if (bracket == text.npos)
        return std::nullopt;
    std::string_view count = text.substr(0, bracket);
    count = count.substr(count.find_last_of(' ') + 1);
    Bar bar;
    const auto done = takeWhole(count);
    const bool isPair = takeText(count, "/");
    const auto total = isPair ? takeWhole(count) : std::nullopt;
    if (!done || !total || !count.empty())
        return std::nullopt;
    bar = { *done, *total, 0 };
    const std::string_view inside = text.substr(bracket, rate - bracket);
    if (const std::size_t comma = inside.rfind(','); comma != inside.npos)
        if (const auto value = leadingNumber(inside.substr(comma + 1)); value && *value > 0)
            bar.secondsPerStep = text.substr(rate).starts_with("it/s") ? 1 / *value : *value;
    return bar;
}

/// Seconds of "0:00:35", "1 day, 2:03:04", "8m 0s" or "2h 7m 13s".
std::optional<double> elapsedSeconds(std::string_view text)
{
    double seconds = 0, group = 0;
    bool isAny = false;
    text = trimmed(text);
    while (!text.empty()) {
        const auto number = takeNumber(text);
        if (!number || !isFigure(*number))
            return std::nullopt;
        text = trimmedStart(text);
        isAny = true;
        if (takeText(text, "days,") || takeText(text, "day,") || takeText(text, "d"))
            seconds += 86400 * *number;
        else if (takeText(text, "h"))
            seconds += 3600 * *number;
        else if (takeText(text, "m"))
            seconds += 60 * *number;
        else if (takeText(text, "s"))
            seconds += *number;
        else if (group = 60 * group + *number; !takeText(text, ":") && !text.empty())
            return std::nullopt;
        text = trimmedStart(text);
    }
    return isAny ? std::optional(seconds + group) : std::nullopt;
}

/// What ms-swift and LLaMA-Factory say of where they are: steps that are done, and seconds since the beginning.
struct Place {
    std::int64_t step = 0;
    double seconds = 0;
};

std::optional<Place> placeIn(LooseJsonValue entry)
{
    const std::string ratio = entry["global_step/max_steps"].text(), elapsed = entry["elapsed_time"].text();
    const auto step = ratio.empty() ? entry["current_steps"].finiteNumber() : leadingNumber(std::string_view(ratio));
    const auto seconds = elapsedSeconds(elapsed);
    if (!step || !seconds || !(*step >= 0 && *step < 1e15))
        return std::nullopt;
    return Place { static_cast<std::int64_t>(*step), *seconds };
}

class HfTrainerLog : public LogParser {
public:
    HfTrainerLog()
        : LogParser(SourceKind::HfTrainerLog, "trainer")
    {
    }

    bool take(const TextLine &line) override
    {
        const std::size_t at = entryAt(line.text);
        const auto bar = barIn(line.text.substr(0, at));
        if (bar && (!m_step || (m_bar && m_bar->total == bar->total))) // that of an evaluation has another total
            m_bar = bar;
        if (at == line.text.npos)
            return false;
        LooseJson json;
        json.read(line.text, at);
        const LooseJsonValue entry = json.root();
        if (!entry.isObject() || json.isTruncated() || json.isBroken())
            return false;
        sure(90);
        const bool isOfStep = bool(entry["loss"]);
        if (const auto place = isOfStep ? placeIn(entry) : std::nullopt)
            return takePlaced(entry, *place, line.number);
        std::int64_t step = m_step.value_or(0);
        if (m_bar && m_bar->count > step)
            step = m_bar->count; // a bar that stands still tells nothing
        else if (isOfStep)
            step += 1;
        if (isOfStep && (!m_bar || m_bar->count != step))
            note(m_told, "It names no steps: its entries are numbered in their order");
        if (isOfStep) {
            m_step = step;
            if (m_bar && m_bar->secondsPerStep > 0) {
                m_book.addStep(kStepTime, "s", step, m_bar->secondsPerStep);
                note(m_told, "Its step times are the smoothed rate of the progress bar");
            }
        }
        addTrainerEntry(m_book, entry, step, m_told);
        if (const SampleSeries *mean = m_book.find(kMeanStepTime); mean && !mean->at.empty())
            m_mean = { mean->at.back(), mean->value.back() };
        tellStep(step);
        return true;
    }

protected:
    void finish() override
    {
        if (m_mean && !m_book.find(kStepTime))
            addMeanStepTime(m_book, m_told, m_mean->first, m_mean->second);
    }

private:
    /// An entry that says its step and the time since the beginning, in whole seconds: steps take the differences.
    bool takePlaced(LooseJsonValue entry, const Place &place, std::int64_t line)
    {
        m_step = place.step;
        const bool wentBack = m_place && (place.step <= m_place->step || place.seconds < m_place->seconds);
        if (wentBack)
            note(m_told,
                "At line " + std::to_string(line) + " the counter went back to step " + std::to_string(place.step)
                    + ": the run was restarted, the later values are kept");
        const bool hasTicked = m_place && !wentBack && place.seconds > m_place->seconds;
        if (hasTicked) {
            m_book.addStep(
                kStepTime, "s", place.step, (place.seconds - m_place->seconds) / double(place.step - m_place->step));
            note(m_told,
                "Its step times are differences of the time since the beginning, which it tells in whole seconds");
        }
        if (!m_place || wentBack || hasTicked) // steps shorter than a second share its tick
            m_place = place;
        addTrainerEntry(m_book, entry, place.step, m_told);
        tellStep(place.step);
        return true;
    }

    static std::size_t entryAt(std::string_view text)
    {
        for (std::size_t at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
            const std::string_view rest = text.substr(at);
            if (!rest.starts_with("{'") && !rest.starts_with("{\""))
                continue;
            const auto has = [&](const std::string &key) {
                return rest.find("'" + key + "'") != rest.npos || rest.find('"' + key + '"') != rest.npos;
            };
            if ((has("loss") || has("eval_loss") || has("train_runtime") || has("eval_runtime")) && has("epoch"))
                return at;
            return text.npos;
        }
        return text.npos;
    }

    std::optional<Place> m_place; // of the latest entry whose second is another
    std::optional<Bar> m_bar;
    std::optional<std::pair<std::int64_t, double>> m_mean; // step time of the whole run: at a step, seconds
};

} // namespace

void addTrainerEntry(SeriesBook &book, LooseJsonValue entry, std::int64_t step, RecordedSource &told)
{
    std::int64_t others = 0;
    for (const LooseJsonValue own : entry) {
        const std::string key = own.name();
        if (key == "step")
            continue;
        const double value = own.finiteNumber().value_or(0);
        if (!own.finiteNumber() || key.size() > 120) {
            ++others;
        } else if (key == "train_steps_per_second") {
            if (value > 0)
                book.addStep(kMeanStepTime, "s", step, 1 / value);
        } else if (key == "train_loss") {
            book.addStep("log.train_loss", "1", step, value);
        } else {
            const MetricName metric = metricNamed(key);
            book.addStep(metric.name, metric.unit, step, value * metric.factor);
        }
    }
    drop(told, "values that are no numbers", others);
}

void addMeanStepTime(SeriesBook &book, RecordedSource &told)
{
    const SampleSeries *mean = book.find(kMeanStepTime);
    if (!mean || mean->at.empty() || book.find(kStepTime))
        return;
    addMeanStepTime(book, told, mean->at.back(), mean->value.back());
}

void addMeanStepTime(SeriesBook &book, RecordedSource &told, std::int64_t step, double seconds)
{
    book.addStep(kStepTime, "s", step, seconds);
    note(told, "It prints no step times: the one it has is the mean of the whole run");
}

LogParserPtr makeHfTrainerParser()
{
    return std::make_unique<HfTrainerLog>();
}

} // namespace trainyard::readers
