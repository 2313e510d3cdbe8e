// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/words.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/catalogue/parse.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/keys/plan_keys.h"
#include "core/facts/plan/left_out_internal.h"
#include "core/facts/plan/reader_context_internal.h"
#include "core/facts/plan/validate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace trainyard::detail {

namespace {

std::string shown(double value)
{
    return brief(numberToJson(value));
}

std::string rangeText(const Key &key, bool whole)
{
    const std::string kind = whole ? "a whole number" : "a number";
    if (key.max >= 1e15)
        return kind + (key.isAboveMin ? " above " : " from ") + shown(key.min) + (key.isAboveMin ? "" : " up");
    if (key.isAboveMin)
        return kind + " above " + shown(key.min) + ", at most " + shown(key.max);
    return kind + " from " + shown(key.min) + " to " + shown(key.max);
}

std::string listed(const std::vector<std::string> &names)
{
    return joined(names, ", ", " or ");
}

std::string withNearest(std::string right, std::string_view given, const std::vector<std::string> &names)
{
    const std::string near = nearestName(given, names);
    return near.empty() ? right : right + " (nearest: " + near + ")";
}

template <class T> void readValue(const Json &json, const Key &key, Context &context, T &target);

template <class Owner> class Reader {
public:
    Reader(const Json &object, Context &context, Owner &owner)
        : m_object(object)
        , m_context(context)
        , m_owner(owner)
    {
    }

    template <class T> void value(T Owner::*member, const Key &key)
    {
        at(key, [&](const Json &json) { readValue(json, key, m_context, m_owner.*member); });
    }

    template <class T> void automatic(std::optional<T> Owner::*member, const Key &key)
    {
        at(key, [&](const Json &json) {
            if (json == "auto") {
                m_owner.*member = std::nullopt;
            } else if (!json.is_number()) {
                m_context.fail(
                    std::string(key.name) + " is " + brief(json), "auto, or " + rangeText(key, std::is_integral_v<T>));
            } else {
                T number {};
                readValue(json, key, m_context, number);
                m_owner.*member = number;
            }
        });
    }

    template <class T> void perStage(std::vector<T> Owner::*member, const Key &key)
    {
        at(key, [&](const Json &json) {
            auto &values = m_owner.*member;
            values.clear();
            if (json.is_null() && !key.isRequired)
                return;
            if (json.is_array() && !json.empty()) {
                readValue(json, key, m_context, values);
            } else {
                if (!json.is_number())
                    return m_context.fail(std::string(key.name) + " is " + brief(json),
                        rangeText(key, std::is_integral_v<T>) + ", or a list with one for each stage");
                readValue(json, key, m_context, values.emplace_back());
            }
        });
    }

    /// Every key that holds an object and has no row of its own.
    template <class T> void byGpu(std::map<std::string, T> Owner::*member, const Key &key)
    {
        for (const auto &[id, item] : m_object.items()) {
            if (m_known.contains(id) || !item.is_object())
                continue;
            m_known.insert(id);
            const Context::Step step(m_context, id);
            readValue(item, key, m_context, (m_owner.*member)[id]);
        }
    }

    void byMicroBatch(TimeByMicroBatch Owner::*member, const Key &key)
    {
        at(key, [&](const Json &json) {
            TimeByMicroBatch &times = m_owner.*member;
            if (!json.is_object() || json.empty())
                return m_context.fail(std::string(key.name) + " is " + brief(json),
                    "{ \"slope\": ms, \"intercept\": ms }, or { \"1\": ms, \"2\": ms, … } by micro-batch");
            times = {};
            const bool isLine = json.contains("slope") || json.contains("intercept");
            for (const auto &[name, item] : json.items()) {
                const Context::Step step(m_context, name);
                double ms = 0;
                readValue(item, Key(name.c_str(), "", keys::upTo(keys::kHuge)), m_context, ms);
                int size = 0;
                const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), size);
                if (isLine && (name == "slope" || name == "intercept"))
                    (name == "slope" ? times.slope : times.intercept) = ms;
                else if (isLine || error != std::errc() || end != name.data() + name.size() || size < 1
                    || size > 1000000)
                    m_context.fail(
                        name + " is no size of a micro-batch", isLine ? "slope and intercept alone" : "1, 2, …");
                else
                    times.measured[size] = ms;
            }
        });
    }

    void gpu(const Key &key)
    {
        at(key, [&](const Json &json) {
            textOrObject(json, m_owner.gpu, m_owner.inlineGpu, gpuKeys(), parseGpu, "a catalogue id, or an object");
        });
    }

    void model(const Key &key)
    {
        at(key, [&](const Json &json) {
            textOrObject(json, m_owner.model, m_owner.inlineModel, modelKeys(), parseModel,
                "a catalogue name, the path of a config.json, or an object");
        });
    }

    void between(const Key &key)
    {
        at(key, [&](const Json &json) {
            if (!json.is_array() || json.size() != 2 || !json[0].is_string() || !json[1].is_string())
                return m_context.fail("between is " + brief(json), "a list of two datacenter ids");
            m_owner.between = { json[0].template get<std::string>(), json[1].template get<std::string>() };
        });
    }

    void directions(const Key &key)
    {
        at(key, [&](const Json &json) {
            std::vector<double> prices;
            if (json.is_null())
                return;
            if (json.is_number())
                readValue(json, key, m_context, prices.emplace_back());
            else if (json.is_array() && json.size() == 2)
                readValue(json, key, m_context, prices);
            if (prices.empty())
                return m_context.fail(std::string(key.name) + " is " + brief(json),
                    rangeText(key, false) + ", or a list of two: first to second, second to first");
            m_owner.usdPerGb = { prices.front(), prices.back() };
        });
    }

    void stack(const Key &key)
    {
        at(key, [&](const Json &json) {
            constexpr const char *right = "the name of a stack, or { \"base\": name, ...overrides }";
            if (json.is_string()) {
                m_owner.stack.name = json.template get<std::string>();
            } else if (!json.is_object()) {
                m_context.fail("stack is " + brief(json), right);
            } else {
                for (const auto &[name, item] : json.items())
                    stackMember(name, item);
                if (!json.contains("base"))
                    m_context.fail("base is missing", right);
            }
        });
    }

    void calibration(const Key &key)
    {
        at(key, [&](const Json &json) {
            if (json.is_null())
                return;
            if (!json.is_object())
                return m_context.fail("calibration is " + brief(json), "an object");
            for (const auto &[name, item] : json.items())
                m_owner.calibration[name] = item.dump();
        });
    }

    /// Keys that the table does not have are kept as they are.
    void keepTheRest()
    {
        for (const auto &[name, item] : m_object.items()) {
            if (!m_known.contains(name))
                m_owner.extra[name] = item.dump();
        }
    }

    void know(const char *name) { m_known.insert(name); }

private:
    template <class F> void at(const Key &key, F read)
    {
        m_known.insert(key.name);
        const auto found = m_object.find(key.name);
        if (found == m_object.end() && !key.isRequired)
            return;
        const Context::Step step(m_context, std::string(key.name));
        if (found == m_object.end())
            m_context.fail(std::string(key.name) + " is missing", std::string("the key ") + key.name + ": " + key.doc);
        else
            read(*found);
    }

    template <class Spec, class Parse>
    void textOrObject(const Json &json, std::string &name, std::optional<Spec> &spec,
        const std::vector<std::string> &keys, Parse parse, const char *right)
    {
        if (json.is_string() && json != "") {
            name = json.template get<std::string>();
        } else if (json.is_object()) {
            auto parsed = parse(json.dump(), m_context.where());
            if (parsed)
                spec = std::move(*parsed);
            else
                m_context.errors.insert(m_context.errors.end(), parsed.error().begin(), parsed.error().end());
            for (const auto &[key, item] : json.items()) {
                if (!std::ranges::binary_search(keys, key))
                    m_owner.extra[std::string(kInlinePrefix) + key] = item.dump();
            }
        } else {
            m_context.fail("this is " + brief(json), right);
        }
    }

    void stackMember(const std::string &name, const Json &item)
    {
        const Context::Step step(m_context, name);
        if (name == "base") {
            if (item.is_string())
                m_owner.stack.name = item.template get<std::string>();
            else
                m_context.fail("base is " + brief(item), "the name of a stack");
        } else if (name == "release") {
            if (item.is_string() && item != "")
                m_owner.stack.release = item.template get<std::string>();
            else if (!item.is_null())
                m_context.fail(
                    "release is " + brief(item), "the name of a release as a text, such as \"26.02\", or null");
        } else if (std::ranges::find(stackKeys(), name) == stackKeys().end()) {
            m_context.fail("a stack has no " + name,
                withNearest("base, release or a field of stacks.json", name, stackKeys()), ErrorCode::UnknownKey);
        } else if (item.is_boolean() || item.is_number()) {
            m_owner.stack.overrides[name] = item.is_boolean() ? item.template get<bool>() : item.template get<double>();
        } else {
            m_context.fail(name + " is " + brief(item), "a number, or true or false");
        }
    }

    const Json &m_object;
    Context &m_context;
    Owner &m_owner;
    std::set<std::string, std::less<>> m_known;
};

template <class T> void readNumber(const Json &json, const Key &key, Context &context, T &target)
{
    constexpr bool whole = std::is_integral_v<T>;
    const double number = json.is_number() ? json.get<double>() : std::nan("");
    const bool above = key.isAboveMin ? number > key.min : number >= key.min;
    if (!std::isfinite(number) || !above || number > key.max || (whole && number != std::floor(number)))
        return context.fail(std::string(key.name) + " is " + brief(json), rangeText(key, whole));
    target = static_cast<T>(number);
}

template <class E> void readEnum(const Json &json, const Key &key, Context &context, E &target)
{
    static const std::vector<std::string> names = namesInFile(kNamesOf<E>);
    const std::string given = json.is_string() ? json.get<std::string>() : std::string();
    const auto found = std::ranges::find(names, given);
    if (found != names.end())
        target = static_cast<E>(found - names.begin());
    else
        context.fail(std::string(key.name) + " is " + brief(json), withNearest(listed(names), given, names));
}

template <class T> void readObject(const Json &json, const Key &key, Context &context, T &target)
{
    if (!json.is_object())
        return context.fail(std::string(key.name) + " is " + brief(json), "an object");
    Reader<T> reader(json, context, target);
    describe(reader, keys::Of<T> {});
    reader.keepTheRest();
}

template <class T> void readList(const Json &json, const Key &key, Context &context, std::vector<T> &target)
{
    if (!json.is_array())
        return context.fail(std::string(key.name) + " is " + brief(json), "a list");
    target.clear();
    target.reserve(json.size());
    for (const Json &item : json) {
        const Context::Step step(context, target.size());
        readValue(item, key, context, target.emplace_back());
    }
}

constexpr std::size_t kLongestText = 4'096, kLongestProse = std::size_t(1) << 20; // bytes

template <class T> void readValue(const Json &json, const Key &key, Context &context, T &target)
{
    if constexpr (kIsOptional<T>) {
        target.reset();
        if (!json.is_null())
            readValue(json, key, context, target.emplace());
    } else if constexpr (kIsList<T>) {
        readList(json, key, context, target);
    } else if constexpr (std::is_enum_v<T>) {
        readEnum(json, key, context, target);
    } else if constexpr (std::is_same_v<T, bool>) {
        if (json.is_boolean())
            target = json.get<bool>();
        else
            context.fail(std::string(key.name) + " is " + brief(json), "true or false");
    } else if constexpr (std::is_arithmetic_v<T>) {
        readNumber(json, key, context, target);
    } else if constexpr (std::is_same_v<T, std::string>) {
        const std::size_t bytes = json.is_string() ? json.get_ref<const std::string &>().size() : 0;
        const std::size_t most = key.isProse ? kLongestProse : kLongestText;
        if (!json.is_string())
            context.fail(std::string(key.name) + " is " + brief(json), "a text");
        else if (bytes > most) // a name stands in every table, label and message
            context.fail(std::string(key.name) + " has " + std::to_string(bytes) + " bytes",
                "a text of at most " + std::to_string(most));
        else
            target = json.get<std::string>();
    } else {
        readObject(json, key, context, target);
    }
}

} // namespace

ExpectedAll<Plan> planFromJson(const Json &document, const std::string &fileName, Where style)
{
    Context context(fileName, style);
    Plan plan;
    if (!document.is_object()) {
        context.fail("this is " + brief(document), "an object with cluster and workload", ErrorCode::BadSyntax);
        return std::unexpected(std::move(context.errors));
    }
    Reader<Plan> reader(document, context, plan);
    reader.know("format");
    reader.know("version");
    describe(reader, keys::Of<Plan> {});
    reader.keepTheRest();
    checkLeftOut(plan, document, context);
    if (const std::size_t pools = poolCount(plan.cluster); pools > kMostPools) {
        const Context::Step cluster(context, "cluster"), datacenters(context, "datacenters");
        context.fail("the cluster has " + std::to_string(pools) + " pools",
            "at most " + std::to_string(kMostPools) + ": nodes that are alike are one pool");
    }
    if (!context.errors.empty())
        return std::unexpected(std::move(context.errors));
    fillIn(plan, document);
    return plan;
}

} // namespace trainyard::detail
