// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/parse.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/keys/plan_keys.h"
#include "core/facts/plan/plan_json_internal.h"

namespace trainyard::detail {

namespace {

Json kept(const std::string &text)
{
    return Json::accept(text) ? Json::parse(text) : Json(text);
}

template <class T> Json toJson(const T &value);

template <class Owner> class Writer {
public:
    explicit Writer(const Owner &owner)
        : m_owner(owner)
    {
    }

    template <class T> void value(T Owner::*member, const Key &key)
    {
        put(key, m_owner.*member, m_default.*member, [](const T &v) { return toJson(v); });
    }

    template <class T> void automatic(std::optional<T> Owner::*member, const Key &key)
    {
        put(key, m_owner.*member, m_default.*member, [](const auto &v) { return v ? toJson(*v) : Json("auto"); });
    }

    template <class T> void perStage(std::vector<T> Owner::*member, const Key &key)
    {
        put(key, m_owner.*member, m_default.*member,
            [](const auto &v) { return v.size() == 1 ? toJson(v[0]) : toJson(v); });
    }

    template <class T> void byGpu(std::map<std::string, T> Owner::*member, const Key &)
    {
        for (const auto &[id, times] : m_owner.*member)
            m_object[id] = toJson(times);
    }

    void byMicroBatch(TimeByMicroBatch Owner::*member, const Key &key)
    {
        const TimeByMicroBatch &times = m_owner.*member;
        Json &json = m_object[key.name];
        if (times.measured.empty())
            json = { { "slope", numberToJson(times.slope) }, { "intercept", numberToJson(times.intercept) } };
        for (const auto &[size, ms] : times.measured)
            json[std::to_string(size)] = numberToJson(ms);
    }

    void gpu(const Key &key) { textOrObject(key, m_owner.gpu, m_owner.inlineGpu, formatGpu); }
    void model(const Key &key) { textOrObject(key, m_owner.model, m_owner.inlineModel, formatModel); }
    void between(const Key &key) { m_object[key.name] = Json::array({ m_owner.between[0], m_owner.between[1] }); }

    void directions(const Key &key)
    {
        if (const auto &prices = m_owner.usdPerGb) {
            const auto &[forth, back] = *prices;
            m_object[key.name] = forth == back ? toJson(forth) : Json::array({ toJson(forth), toJson(back) });
        }
    }

    void stack(const Key &key)
    {
        Json &json = m_object[key.name];
        if (m_owner.stack.overrides.empty() && m_owner.stack.release.empty()) {
            json = m_owner.stack.name;
            return;
        }
        json["base"] = m_owner.stack.name;
        if (!m_owner.stack.release.empty())
            json["release"] = m_owner.stack.release;
        for (const auto &[name, number] : m_owner.stack.overrides)
            json[name] = numberToJson(number);
    }

    void calibration(const Key &key)
    {
        for (const auto &[name, text] : m_owner.calibration)
            m_object[key.name][name] = kept(text);
    }

    Json take()
    {
        for (const auto &[name, text] : m_owner.extra) {
            if (!name.starts_with(kInlinePrefix))
                m_object[name] = kept(text);
        }
        return std::move(m_object);
    }

private:
    template <class T, class F> void put(const Key &key, const T &value, const T &standard, F make)
    {
        if (key.isRequired || key.isAlwaysWritten || !(value == standard)) {
            Json json = make(value);
            if (!json.is_null())
                m_object[key.name] = std::move(json);
        }
    }

    template <class Spec, class Format>
    void textOrObject(const Key &key, const std::string &name, const std::optional<Spec> &spec, Format format)
    {
        if (!spec) {
            if (!name.empty())
                m_object[key.name] = name;
            return;
        }
        Json json = kept(format(*spec));
        for (const auto &[extra, text] : m_owner.extra) {
            if (extra.starts_with(kInlinePrefix))
                json[extra.substr(kInlinePrefix.size())] = kept(text);
        }
        m_object[key.name] = std::move(json);
    }

    const Owner &m_owner;
    Owner m_default {};
    Json m_object = Json::object();
};

template <class T> Json toJson(const T &value)
{
    if constexpr (kIsOptional<T>) {
        return value ? toJson(*value) : Json();
    } else if constexpr (kIsList<T>) {
        Json list = Json::array();
        for (const auto &item : value)
            list.push_back(toJson(item));
        return list;
    } else if constexpr (std::is_enum_v<T>) {
        return toString(value);
    } else if constexpr (std::is_same_v<T, double>) {
        return numberToJson(value);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
        return value;
    } else {
        Writer<T> writer(value);
        describe(writer, keys::Of<T> {});
        return writer.take();
    }
}

} // namespace

Json planToJson(const Plan &plan)
{
    Json document { { "format", kFormat }, { "version", Plan::kVersion } };
    Json content = toJson(plan);
    if (plan.workload.globalBatch == 0) // not given: there is no iteration of its own
        content["workload"].erase("global_batch");
    document.update(content);
    return document;
}

} // namespace trainyard::detail
