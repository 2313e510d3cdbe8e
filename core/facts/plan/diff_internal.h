#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Pieces of the sentences about two plans. Private to core/facts/plan.

#include "core/base/words.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/keys/plan_keys.h"

#include <algorithm>

namespace trainyard::detail {

using Sentences = std::vector<std::string>;

/// "H100 SXM 80 GB" for h100-sxm-80gb; the name of an inline GPU.
[[nodiscard]] std::string gpuLabel(const Pool &pool);
/// A text cut to fit in a sentence.
[[nodiscard]] std::string cutText(const std::string &text);

/// "Micro-batch 1 → 2", "RTT Virginia–Oregon 60 → 40 ms": `subject` follows the key's label.
[[nodiscard]] std::string changeSentence(
    const Key &key, const std::string &subject, const std::string &before, const std::string &after);

/// Sentences about two clusters: moves of GPUs first.
void describeCluster(const Cluster &before, const Cluster &after, Sentences &sentences);
/// About two lists of jobs, job by job by their names, and about two grids, which are not equal.
void describeJobs(const std::vector<Job> &before, const std::vector<Job> &after, Sentences &sentences);
void describeGrid(const std::optional<JobGrid> &before, const std::optional<JobGrid> &after, Sentences &sentences);

template <class T>
void describeChange(const Key &key, const std::string &subject, const T &before, const T &after, Sentences &sentences);

inline std::string shownText(const std::string &value)
{
    return value.empty() ? "none" : cutText(value);
}
inline std::string shownText(bool value)
{
    return value ? "on" : "off";
}
inline std::string shownText(int value)
{
    return std::to_string(value);
}
inline std::string shownText(double value)
{
    return plainNumber(value);
}
template <class T> std::string shownText(const std::vector<T> &values)
{
    std::string text;
    for (const T &value : values)
        text += (text.empty() ? "" : ", ") + shownText(value);
    return values.empty() ? "none" : cutText(text);
}

/// Walks the table of keys with the two sides of one object and says what differs.
template <class Owner> class Differ {
public:
    Differ(const Owner &before, const Owner &after, std::string subject, Sentences &sentences)
        : m_before(before)
        , m_after(after)
        , m_subject(std::move(subject))
        , m_sentences(sentences)
    {
    }

    template <class T> void value(T Owner::*member, const Key &key)
    {
        if (!(m_before.*member == m_after.*member))
            describeChange(key, m_subject, m_before.*member, m_after.*member, m_sentences);
    }

    template <class T> void automatic(std::optional<T> Owner::*member, const Key &key)
    {
        const auto shown = [](const std::optional<T> &v) { return v ? shownText(*v) : std::string("auto"); };
        compare(key, m_before.*member, m_after.*member, shown);
    }

    template <class T> void perStage(std::vector<T> Owner::*member, const Key &key)
    {
        compare(key, m_before.*member, m_after.*member, [](const auto &v) { return shownText(v); });
    }

    template <class T> void byGpu(std::map<std::string, T> Owner::*member, const Key &key)
    {
        const auto shown = [](const auto &v) { return counted(std::int64_t(v.size()), "GPU"); };
        compare(key, m_before.*member, m_after.*member, shown);
    }

    template <class T> void byMicroBatch(T Owner::*member, const Key &key)
    {
        compare(key, m_before.*member, m_after.*member, [](const T &) { return std::string("measured"); });
    }

    void gpu(const Key &key)
    {
        if (!(m_before.gpu == m_after.gpu && m_before.inlineGpu == m_after.inlineGpu))
            say(key, gpuLabel(m_before), gpuLabel(m_after));
    }

    void model(const Key &key)
    {
        const auto shown = [](const auto &w) {
            return w.inlineModel ? (w.inlineModel->name.empty() ? "custom" : cutText(w.inlineModel->name))
                                 : shownText(w.model);
        };
        if (!(m_before.model == m_after.model && m_before.inlineModel == m_after.inlineModel))
            say(key, shown(m_before), shown(m_after));
    }

    void stack(const Key &key)
    {
        const auto shown = [](const Stack &s) {
            std::string text = s.name + (s.release.empty() ? "" : " " + s.release);
            for (const auto &[name, number] : s.overrides)
                text += ", " + name + " " + plainNumber(number);
            return cutText(text);
        };
        compare(key, m_before.stack, m_after.stack, shown);
    }

    void directions(const Key &key)
    {
        const auto shown = [](const auto &v) {
            return !v                ? std::string("default")
                : (*v)[0] == (*v)[1] ? plainNumber((*v)[0])
                                     : plainNumber((*v)[0]) + "/" + plainNumber((*v)[1]);
        };
        compare(key, m_before.usdPerGb, m_after.usdPerGb, shown);
    }

    void between(const Key &key)
    {
        compare(key, m_before.between, m_after.between, [](const auto &v) { return v[0] + "–" + v[1]; });
    }

    void calibration(const Key &key)
    {
        const auto shown = [](const auto &v) { return counted(std::int64_t(v.size()), "factor"); };
        compare(key, m_before.calibration, m_after.calibration, shown);
    }

    /// Keys that this version does not know.
    void rest()
    {
        if (m_before.extra == m_after.extra)
            return;
        for (const auto &[name, text] : m_after.extra) {
            if (const auto old = m_before.extra.find(name); old == m_before.extra.end() || old->second != text)
                m_sentences.push_back(changeSentence(Key(name.c_str(), ""), m_subject,
                    old == m_before.extra.end() ? "none" : cutText(old->second), cutText(text)));
        }
        for (const auto &[name, text] : m_before.extra) {
            if (!m_after.extra.contains(name))
                m_sentences.push_back(changeSentence(Key(name.c_str(), ""), m_subject, cutText(text), "none"));
        }
    }

private:
    template <class T, class F> void compare(const Key &key, const T &before, const T &after, F shown)
    {
        if (!(before == after))
            say(key, shown(before), shown(after));
    }

    void say(const Key &key, const std::string &before, const std::string &after)
    {
        m_sentences.push_back(changeSentence(key, m_subject, before, after));
    }

    const Owner &m_before;
    const Owner &m_after;
    std::string m_subject;
    Sentences &m_sentences;
};

template <class T>
void describeObject(const std::string &subject, const T &before, const T &after, Sentences &sentences)
{
    Differ<T> differ(before, after, subject, sentences);
    describe(differ, keys::Of<T> {});
    differ.rest();
}

template <class T> inline constexpr bool kIsPlain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

template <class T>
void describeChange(const Key &key, const std::string &subject, const T &before, const T &after, Sentences &sentences)
{
    if constexpr (std::is_same_v<T, Cluster>) {
        describeCluster(before, after, sentences);
    } else if constexpr (std::is_same_v<T, std::vector<Job>>) {
        describeJobs(before, after, sentences);
    } else if constexpr (std::is_same_v<T, std::optional<JobGrid>>) {
        describeGrid(before, after, sentences);
    } else if constexpr (kIsOptional<T>) {
        using Inner = typename T::value_type;
        if (before && after)
            describeChange(key, subject, *before, *after, sentences);
        else if constexpr (kIsPlain<Inner>)
            sentences.push_back(changeSentence(
                key, subject, before ? shownText(*before) : "default", after ? shownText(*after) : "default"));
        else
            sentences.push_back(changeSentence(key, subject, before ? "given" : "none", after ? "given" : "none"));
    } else if constexpr (std::is_enum_v<T>) {
        sentences.push_back(changeSentence(key, subject, toString(before), toString(after)));
    } else if constexpr (kIsPlain<T>) {
        sentences.push_back(changeSentence(key, subject, shownText(before), shownText(after)));
    } else if constexpr (std::is_same_v<T, std::vector<StagePin>>) {
        const auto shown = [](const T &pins) {
            std::string text;
            for (const StagePin &pin : pins)
                text += (text.empty() ? "" : ", ") + pin.datacenter + " " + std::to_string(pin.stages);
            return text.empty() ? "none" : cutText(text);
        };
        sentences.push_back(changeSentence(key, subject, shown(before), shown(after)));
    } else if constexpr (kIsList<T>) {
        if (before.size() != after.size())
            sentences.push_back(
                changeSentence(key, subject, std::to_string(before.size()), std::to_string(after.size())));
        for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
            if (!(before[i] == after[i]))
                describeChange(key, std::to_string(i + 1), before[i], after[i], sentences);
        }
    } else {
        describeObject(subject, before, after, sentences);
    }
}

} // namespace trainyard::detail
