// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/key_list.h"

#include "core/base/words.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/keys/plan_keys.h"

#include <algorithm>
#include <stdexcept>

namespace trainyard {

namespace {

template <class Owner> class Lister {
public:
    Lister(std::vector<KeyRow> &rows, std::string path, std::vector<bool (*)(const Plan &)> conditions)
        : m_rows(rows)
        , m_path(std::move(path))
        , m_conditions(std::move(conditions))
    {
    }

    template <class T> void value(T Owner::*member, const Key &key) { add<T>(key, m_default.*member); }
    template <class T> void automatic(std::optional<T> Owner::*, const Key &key)
    {
        KeyRow &row = add<T>(key, {});
        row.standard = "auto";
        row.isAutomatic = true;
    }
    template <class T> void perStage(std::vector<T> Owner::*, const Key &key)
    {
        add<T>(key, {}).standard = key.otherwise;
    }
    template <class T> void byGpu(std::map<std::string, T> Owner::*, const Key &key)
    {
        row(key, KeyKind::Section);
        inside<T>(key, "");
    }
    template <class T> void byMicroBatch(T Owner::*, const Key &key) { row(key, KeyKind::Other); }
    void gpu(const Key &key) { row(key, KeyKind::Other); }
    void model(const Key &key) { row(key, KeyKind::Other); }
    void between(const Key &key) { row(key, KeyKind::Other); }
    void directions(const Key &key) { row(key, KeyKind::Number).standard = key.otherwise; }
    void calibration(const Key &key) { row(key, KeyKind::Other); }
    void stack(const Key &key)
    {
        row(key, KeyKind::Other).standard = Stack().name;
        inside<Stack>(key, "");
    }

private:
    KeyRow &row(const Key &key, KeyKind kind)
    {
        KeyRow &row = m_rows.emplace_back(m_path + key.name, key, kind);
        row.conditions = m_conditions;
        if (key.applies)
            row.conditions.push_back(key.applies);
        return row;
    }

    template <class T> void inside(const Key &key, const char *index)
    {
        Lister<T> lister(m_rows, m_path + key.name + index + ".", m_rows.back().conditions);
        describe(lister, keys::Of<T> {});
    }

    template <class T> KeyRow &add(const Key &key, const T &standard)
    {
        if constexpr (kIsOptional<T>) {
            const std::size_t place = m_rows.size();
            add<typename T::value_type>(key, {});
            m_rows[place].standard = key.otherwise;
            m_rows[place].mayBeMissing = true;
            return m_rows[place];
        } else if constexpr (kIsList<T>) {
            const std::size_t place = m_rows.size();
            row(key, KeyKind::List);
            if constexpr (kIsSection<typename T::value_type>)
                inside<typename T::value_type>(key, "[]");
            return m_rows[place];
        } else if constexpr (kIsSection<T>) {
            const std::size_t place = m_rows.size();
            row(key, KeyKind::Section);
            inside<T>(key, "");
            return m_rows[place];
        } else if constexpr (std::is_enum_v<T>) {
            KeyRow &made = row(key, KeyKind::Choice);
            made.choices = namesInFile(kNamesOf<T>);
            made.standard = toString(standard);
            return made;
        } else if constexpr (std::is_same_v<T, std::string>) {
            KeyRow &made = row(key, KeyKind::Text);
            made.standard = *key.otherwise ? key.otherwise : standard;
            return made;
        } else {
            constexpr bool isFlag = std::is_same_v<T, bool>;
            KeyRow &made = row(key, isFlag ? KeyKind::Flag : std::is_integral_v<T> ? KeyKind::Whole : KeyKind::Number);
            made.standard = isFlag ? (standard ? "true" : "false") : plainNumber(double(standard));
            return made;
        }
    }

    std::vector<KeyRow> &m_rows;
    std::string m_path;
    std::vector<bool (*)(const Plan &)> m_conditions;
    Owner m_default {};
};

/// Calls `f` with the member at a path, where it is a number.
template <class Owner, class F> struct NumberFinder : keys::PlainValues {
    Owner &owner;
    std::string_view path;
    F &f;

    NumberFinder(Owner &where, std::string_view key, F &call)
        : owner(where)
        , path(key)
        , f(call)
    {
    }

    template <class T, class S> void value(T S::*member, const Key &key)
    {
        const std::string_view head = path.substr(0, path.find('.'));
        if (head != key.name)
            return;
        if constexpr (kIsSection<T>) {
            if (head.size() < path.size()) {
                NumberFinder<std::conditional_t<std::is_const_v<Owner>, const T, T>, F> inner(
                    owner.*member, path.substr(head.size() + 1), f);
                describe(inner, keys::Of<T> {});
            }
        } else if constexpr (
            std::is_arithmetic_v<
                T> || std::is_same_v<T, std::optional<double>> || std::is_same_v<T, std::optional<int>>) {
            f(owner.*member);
        }
    }
    template <class T, class S> void automatic(std::optional<T> S::*member, const Key &key) { value(member, key); }
};

template <class Owner> struct TrainingDiffer : keys::PlainValues {
    const Owner &before, &after;
    const Plan &plan;
    bool differs = false;

    TrainingDiffer(const Owner &from, const Owner &to, const Plan &whole)
        : before(from)
        , after(to)
        , plan(whole)
    {
    }

    template <class T> void value(T Owner::*member, const Key &key)
    {
        const T &a = before.*member, &b = after.*member;
        if (a == b)
            return;
        if constexpr (kIsSection<T>) {
            TrainingDiffer<T> inner(a, b, plan);
            describe(inner, keys::Of<T> {});
            differs = differs || inner.differs;
        } else if (!key.applies || key.applies(plan)) {
            if (key.training == Training::DiffersUnlessDefault)
                differs = differs || !(b == Owner {}.*member);
            else if constexpr (std::is_same_v<T, std::optional<int>>)
                differs = differs
                    || (key.training == Training::DiffersWhereFewer
                        && b.value_or(key.unlessTold) < a.value_or(key.unlessTold));
            else
                differs = differs || key.training == Training::Differs;
        }
    }
    template <class T> void automatic(std::optional<T> Owner::*, const Key &) { }
};

std::vector<KeyRow> listKeys()
{
    std::vector<KeyRow> rows;
    Lister<Plan> lister(rows, "", {});
    describe(lister, keys::Of<Plan> {});
    return rows;
}

} // namespace

bool KeyRow::applies(const Plan &plan) const
{
    return std::ranges::all_of(conditions, [&](auto holds) { return holds(plan); });
}

const std::vector<KeyRow> &planKeys()
{
    static const std::vector<KeyRow> rows = listKeys();
    return rows;
}

const KeyRow &planKey(std::string_view path)
{
    const auto found = std::ranges::find(planKeys(), path, &KeyRow::path);
    if (found == planKeys().end())
        throw std::logic_error("no key of a plan: " + std::string(path));
    return *found;
}

std::string sentenceOf(const Key &key)
{
    std::string text = key.doc;
    if (*key.otherwise)
        text += std::string("; default: ") + key.otherwise;
    if (key.training != Training::Same)
        text += key.training == Training::DiffersWhereFewer ? ". Fewer affects convergence" : ". Affects convergence";
    return text;
}

std::optional<double> numberAt(const Plan &plan, std::string_view path)
{
    std::optional<double> number;
    const auto read = [&](const auto &member) { number = member; };
    NumberFinder finder(plan, path, read);
    describe(finder, keys::Of<Plan> {});
    return number;
}

void setNumberAt(Plan &plan, std::string_view path, std::optional<double> number)
{
    const auto write = [&]<class T>(T &member) {
        if constexpr (kIsOptional<T>)
            member = number ? T(static_cast<typename T::value_type>(*number)) : std::nullopt;
        else
            member = static_cast<T>(number.value());
    };
    NumberFinder finder(plan, path, write);
    describe(finder, keys::Of<Plan> {});
}

bool changesTraining(const Plan &from, const Plan &to)
{
    TrainingDiffer<Plan> differ(from, to, to);
    describe(differ, keys::Of<Plan> {});
    return differ.differs;
}

} // namespace trainyard
