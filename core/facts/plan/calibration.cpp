// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/calibration.h"

#include "core/base/json_parser_internal.h"
#include "core/facts/plan/plan.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char *, 10> kParts { "products", "attention", "memory", "host", "nvlink", "fabric", "wan",
    "drive", "pcie", "overlap" };

bool isWay(CalibratedPart part)
{
    using enum CalibratedPart;
    return part == Nvlink || part == Fabric || part == Wan || part == Drive || part == Pcie;
}

struct Range {
    double least, most;
};
constexpr Range kFactors { 0.01, 100 };
constexpr Range kLatencies { 0, 10'000'000 }; // µs: ten seconds
constexpr Range kRates { 0.000001, 100'000 }; // GB/s

std::string text(double value)
{
    return Json(value).dump();
}

/// Takes the keys of one entry; the first fault counts.
class EntryReader {
public:
    EntryReader(const Json &object, std::string where)
        : m_object(object)
        , m_where(std::move(where))
    {
    }

    void number(const char *key, std::optional<double> &target)
    {
        if (const Json *value = find(key)) {
            const double given = value->is_number() ? value->get<double>() : NAN;
            if (!std::isfinite(given) || given < 0)
                return refuse(key, *value, "a number from 0 up");
            target = given;
        }
    }
    void numberIn(const char *key, std::optional<double> &target, const Range &range)
    {
        if (const Json *value = find(key)) {
            const double given = value->is_number() ? value->get<double>() : NAN;
            if (!(given >= range.least && given <= range.most))
                return refuse(key, *value,
                    "a number from " + trainyard::text(range.least) + " to " + trainyard::text(range.most));
            target = given;
        }
    }
    void text(const char *key, std::string &target)
    {
        if (const Json *value = find(key)) {
            if (!value->is_string())
                return refuse(key, *value, "a text");
            target = value->get<std::string>();
        }
    }
    [[nodiscard]] const Json *find(const char *key) const
    {
        const auto found = m_object.find(key);
        return found == m_object.end() || found->is_null() ? nullptr : &*found;
    }
    void refuse(const std::string &key, const Json &value, const std::string &right)
    {
        fail(key, key + " is " + value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60), right);
    }
    void fail(const std::string &key, std::string what, std::string right)
    {
        if (!error)
            error = Error { ErrorCode::BadValue, m_where + "/" + key, std::move(what), std::move(right) };
    }

    std::optional<Error> error;

private:
    const Json &m_object;
    std::string m_where;
};

void readPlace(EntryReader &reader, CalibrationFactor &factor)
{
    const Json *where = reader.find("where");
    if (!where)
        return;
    if (!where->is_object())
        return reader.refuse("where", *where, "an object with gpu, datacenter or between");
    EntryReader place(*where, {});
    place.text("gpu", factor.gpu);
    place.text("datacenter", factor.datacenter);
    if (place.error)
        return reader.fail("where" + place.error->where, place.error->what, place.error->right);
    if (const Json *between = place.find("between")) {
        const bool isPair =
            between->is_array() && between->size() == 2 && (*between)[0].is_string() && (*between)[1].is_string();
        if (!isPair)
            return reader.refuse("where/between", *between, "two ids of datacenters");
        factor.between = { (*between)[0].get<std::string>(), (*between)[1].get<std::string>() };
    }
}

/// What a part has no place for is refused: it would change the whole plan.
void checkPlace(EntryReader &reader, const CalibrationFactor &factor)
{
    using enum CalibratedPart;
    const std::string what = toString(factor.what);
    const bool isOfPlan = factor.what == Overlap, isOfLink = factor.what == Wan;
    const std::string right = isOfPlan ? "no place: it holds in the whole plan"
        : isOfLink                     ? "between, with two ids of datacenters"
                                       : "gpu or datacenter";
    if (!factor.gpu.empty() && (isOfPlan || isOfLink))
        reader.fail("where/gpu", what + " cannot be of a GPU", right);
    if (!factor.datacenter.empty() && (isOfPlan || isOfLink))
        reader.fail("where/datacenter", what + " cannot be of a datacenter", right);
    if (!factor.between.empty() && !isOfLink)
        reader.fail("where/between", what + " cannot be between datacenters", right);
    if (factor.latencyUs && (factor.what == Pcie || factor.what == Drive))
        reader.fail("latency_us", what + " has no latency of its own in the model", "factor, or gbytes_per_s");
}

constexpr std::array<const char *, 3> kReaches { "node", "fabric", "wan" };

void readFittedOn(EntryReader &reader, CalibrationFactor &factor)
{
    const Json *on = reader.find("fitted_on");
    if (!on)
        return;
    if (!on->is_object())
        return reader.refuse("fitted_on", *on, "an object with stack, model, gpus …");
    FittedOn job;
    std::string reach;
    EntryReader inner(*on, {});
    inner.text("stack", job.key.stack);
    inner.text("model", job.model);
    inner.text("layout", job.layout);
    inner.text("reach", reach);
    std::optional<double> bits, gpus;
    inner.number("precision_bits", bits);
    inner.number("gpus", gpus);
    const auto flag = [&](const char *key, bool &target) {
        if (const Json *value = inner.find(key)) {
            if (!value->is_boolean())
                return inner.refuse(key, *value, "true or false");
            target = value->get<bool>();
        }
    };
    flag("experts", job.key.isMoe);
    flag("sharded_weights", job.key.shardsWeights);
    const auto known = std::ranges::find(kReaches, reach);
    if (known == kReaches.end())
        inner.fail("reach", reach.empty() ? "reach is missing" : "reach is \"" + reach + "\"", "node, fabric or wan");
    else
        job.key.reach = Reach(known - kReaches.begin());
    if (inner.error)
        return reader.fail("fitted_on" + inner.error->where, inner.error->what, inner.error->right);
    job.key.precisionBits = int(std::min(bits.value_or(16), 64.0));
    job.gpus = int(std::min(gpus.value_or(0), 1e9));
    factor.fittedOn = std::move(job);
}

Expected<CalibrationFactor> factorOf(const Json &object, const std::string &where)
{
    EntryReader reader(object, where);
    CalibrationFactor factor;
    std::string what;
    reader.text("what", what);
    if (const auto part = calibratedPart(what))
        factor.what = *part;
    else
        reader.fail("what", what.empty() ? "what is missing" : "what is \"" + what + "\"",
            "products, attention, memory, host, nvlink, fabric, wan, drive, pcie or overlap");
    readPlace(reader, factor);
    reader.numberIn("factor", factor.factor, kFactors);
    reader.numberIn("latency_us", factor.latencyUs, kLatencies);
    reader.numberIn("gbytes_per_s", factor.gbytesPerS, kRates);
    reader.text("recording", factor.recording);
    reader.number("standard_error", factor.standardError);
    reader.number("latency_error_us", factor.latencyError);
    reader.number("error_before", factor.errorBefore);
    reader.number("error_after", factor.errorAfter);
    if (const Json *r2 = reader.find("r2"); r2 && r2->is_number())
        factor.r2 = r2->get<double>();
    std::optional<double> samples;
    reader.number("samples", samples);
    factor.samples = int(std::min(samples.value_or(0), 2e9));
    readFittedOn(reader, factor);
    if (const Json *accepted = reader.find("accepted")) {
        if (!accepted->is_boolean())
            reader.refuse("accepted", *accepted, "true or false");
        else
            factor.isAccepted = accepted->get<bool>();
    }
    if (!reader.error && !factor.factor && !factor.latencyUs && !factor.gbytesPerS)
        reader.fail("factor", std::string("factor is missing"),
            isWay(factor.what) ? "factor, or latency_us and gbytes_per_s" : "a number above 0");
    if (!reader.error && !isWay(factor.what) && !factor.factor)
        reader.fail("factor", "factor is missing: " + what + " has neither latency nor bandwidth", "a number above 0");
    if (!reader.error)
        checkPlace(reader, factor);
    if (reader.error)
        return std::unexpected(*reader.error);
    return factor;
}

} // namespace

const char *toString(CalibratedPart part)
{
    return kParts[std::size_t(part)];
}

std::optional<CalibratedPart> calibratedPart(const std::string &name)
{
    for (std::size_t i = 0; i < kParts.size(); ++i)
        if (name == kParts[i])
            return CalibratedPart(i);
    return {};
}

Expected<CalibrationFactor> parseCalibrationFactor(const std::string &json, const std::string &where)
{
    const Json object = Json::parse(json, nullptr, false);
    if (!object.is_object())
        return std::unexpected(Error { ErrorCode::BadValue, where, "is no object", "{ \"what\": …, \"factor\": … }" });
    return factorOf(object, where);
}

std::string formatCalibrationFactor(const CalibrationFactor &factor)
{
    Json json { { "what", toString(factor.what) } };
    Json where = Json::object();
    if (!factor.gpu.empty())
        where["gpu"] = factor.gpu;
    if (!factor.datacenter.empty())
        where["datacenter"] = factor.datacenter;
    if (!factor.between.empty())
        where["between"] = factor.between;
    if (!where.empty())
        json["where"] = std::move(where);
    const auto add = [&](const char *key, const std::optional<double> &value) {
        if (value)
            json[key] = *value;
    };
    add("factor", factor.factor);
    add("latency_us", factor.latencyUs);
    add("gbytes_per_s", factor.gbytesPerS);
    if (!factor.recording.empty())
        json["recording"] = factor.recording;
    json["samples"] = factor.samples;
    add("standard_error", factor.standardError);
    add("latency_error_us", factor.latencyError);
    add("r2", factor.r2);
    add("error_before", factor.errorBefore);
    add("error_after", factor.errorAfter);
    if (factor.fittedOn) {
        const FittedOn &on = *factor.fittedOn;
        json["fitted_on"] = { { "stack", on.key.stack }, { "precision_bits", on.key.precisionBits },
            { "experts", on.key.isMoe }, { "reach", kReaches[std::size_t(on.key.reach)] },
            { "sharded_weights", on.key.shardsWeights }, { "model", on.model }, { "gpus", on.gpus },
            { "layout", on.layout } };
    }
    json["accepted"] = factor.isAccepted;
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool tellsWhatItIsAbout(const std::string &json)
{
    const Json object = Json::parse(json, nullptr, false);
    return object.is_object() && object.contains("what");
}

ExpectedAll<Calibration> calibrationOf(const Plan &plan)
{
    Calibration calibration;
    Errors errors;
    for (const auto &[id, text] : plan.calibration) {
        if (!tellsWhatItIsAbout(text))
            continue;
        auto factor = parseCalibrationFactor(text, "calibration/" + id);
        if (!factor)
            errors.push_back(factor.error());
        else if (factor->isAccepted)
            calibration.emplace(id, std::move(*factor));
    }
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    return calibration;
}

} // namespace trainyard
