#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of one key of the plan file, told once. The files of this folder are the table: a row per key with the
// member that it is, section by section. Reader, writer, schema, --set, sentences about changes, forms and switches of
// the window, axes of the search, what affects convergence and the tables of docs/plan-file.md come from these rows;
// its default is the struct's own.
//
// A visitor has: value(member, key) for plain values, enums, objects, lists and optionals of them; automatic(member,
// key) where "auto" is a value; perStage(member, key) for one or a list; and a verb for each key that has a shape of
// its own (gpu, model, stack, between, byGpu ...). It walks a struct by describe(visitor, keys::Of<WanLink> {}).
// There is a describe() for every struct and visitor, run once a plan: [[gnu::cold]] keeps the optimiser brief with
// them.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace trainyard {

struct Plan;

/// Whether another value has the model learn otherwise.
enum class Training : std::uint8_t { Same, Differs, DiffersUnlessDefault, DiffersWhereFewer };

/// What axes of the search (core/planner/space) and switches of the window (alternatives.h) are made of.
struct KeyChoice {
    /// what both call it: "Expert dispatch"; empty: it is neither
    const char *label = "";
    /// of the axis and of the switch; nullptr: the key's name
    const char *id = nullptr;
    /// of the switch, where that has another
    const char *group = nullptr;
    /// Worth trying, beside what a plan has, rising or falling as they are listed. Of numbers alone: flags and enums
    /// have all their values.
    std::span<const double> values;
    /// by a search, which tries each with all else; empty: `values`
    std::span<const double> tried;
    /// what stands for no number in the id of an alternative, and on screen
    const char *none = "auto", *noneShown = "auto";
    /// behind a number on screen, which loses its s behind 1: " bits"
    const char *unit = "";
    /// why another value would change nothing, one sentence without a full stop; "": it may
    const char *(*rests)(const Plan &) = nullptr;
    /// what measured stage times hold for one value of: "the micro-batch is"; nullptr: they leave it open
    const char *measured = nullptr;
    /// All is told here: who makes switches, or axes, need not name the key. Where it stands among others they may say.
    bool isOffered = false, isTried = false;
};

struct Key {
    /// `facts` are what the functions below return.
    template <class... Facts>
    constexpr Key(const char *named, const char *described, Facts... facts)
        : name(named)
        , doc(described)
    {
        (facts(*this), ...);
    }

    /// in the file
    const char *name;
    /// what it is and what its values mean: schema and reference
    const char *doc;
    /// what holds where a plan says nothing and the struct has no number for it
    const char *otherwise = "";
    /// what only the reference adds, in Markdown
    const char *more = "";
    double min = 0, max = 1e15;
    /// min itself is out
    bool isAboveMin = false;
    bool isRequired = false;
    /// also where it is the default
    bool isAlwaysWritten = false;

    /// in a sentence about a change: "RTT"; empty: made of the name
    const char *label = "";
    /// behind the number there: " ms"
    const char *unit = "";
    /// the one value that is said as "on", any other being "off"
    const char *onAs = nullptr;
    /// a text too long for a sentence
    bool isProse = false;

    /// beside its field in the window; empty: it has none
    const char *title = "";
    /// the field's tooltip
    const char *help = "";
    /// where not `unit`
    const char *fieldUnit = nullptr;
    /// what the field shows instead of the lowest number, or of none
    const char *lowestMeans = nullptr;
    int decimals = 0;
    /// what the field shows is so many times the value
    double scale = 1;
    /// nullptr: anywhere its section does
    bool (*applies)(const Plan &) = nullptr;

    Training training = Training::Same;
    /// DiffersWhereFewer: bits of a value that is not there
    int unlessTold = 0;

    KeyChoice choice;
    /// Unless it has its default, an iteration has work beside the operations of its stages, which the short cuts of a
    /// search (core/planner/score/uniform_plan.h) do not know: such plans are simulated one by one.
    bool hasOwnWork = false;

    [[nodiscard]] constexpr const char *shownUnit() const { return fieldUnit ? fieldUnit : unit; }
};

template <class T> inline constexpr bool kIsOptional = false;
template <class T> inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T> inline constexpr bool kIsList = false;
template <class T> inline constexpr bool kIsList<std::vector<T>> = true;
/// A struct with keys of its own.
template <class T>
inline constexpr bool kIsSection =
    std::is_class_v<T> && !kIsOptional<T> && !kIsList<T> && !std::is_same_v<T, std::string>;

namespace keys {

/// Names the struct whose keys are walked.
template <class T> struct Of {
};

/// What an activation has unless told, and a gradient at most.
inline constexpr int kComputedBits = 16, kReducedBits = 32;
inline constexpr double kHuge = std::numeric_limits<double>::max();

/// A visitor of plain values alone: nothing for keys that have a shape of their own.
struct PlainValues {
    template <class List> void perStage(List, const Key &) { }
    template <class Map> void byGpu(Map, const Key &) { }
    template <class Times> void byMicroBatch(Times, const Key &) { }
    void gpu(const Key &) { }
    void model(const Key &) { }
    void stack(const Key &) { }
    void between(const Key &) { }
    void directions(const Key &) { }
    void calibration(const Key &) { }
};

constexpr auto range(double min, double max)
{
    return [=](Key &key) { key.min = min, key.max = max; };
}
constexpr auto upTo(double max)
{
    return range(0, max);
}
constexpr auto above(double min, double max)
{
    return [=](Key &key) { key.min = min, key.max = max, key.isAboveMin = true; };
}
inline constexpr auto kRequired = [](Key &key) { key.isRequired = true; };
inline constexpr auto kAlways = [](Key &key) { key.isAlwaysWritten = true; };
constexpr auto otherwise(const char *text)
{
    return [=](Key &key) { key.otherwise = text; };
}
constexpr auto more(const char *text)
{
    return [=](Key &key) { key.more = text; };
}

constexpr auto said(const char *label, const char *unit = "")
{
    return [=](Key &key) { key.label = label, key.unit = unit; };
}
constexpr auto saidAsOn(const char *value)
{
    return [=](Key &key) { key.onAs = value; };
}
inline constexpr auto kProse = [](Key &key) { key.isProse = true; };

constexpr auto shown(const char *title, const char *help = "")
{
    return [=](Key &key) { key.title = title, key.help = help; };
}
constexpr auto field(int decimals, const char *unit = nullptr, double scale = 1)
{
    return [=](Key &key) { key.decimals = decimals, key.fieldUnit = unit, key.scale = scale; };
}
constexpr auto lowestMeans(const char *text)
{
    return [=](Key &key) { key.lowestMeans = text; };
}
constexpr auto when(bool (*applies)(const Plan &))
{
    return [=](Key &key) { key.applies = applies; };
}

inline constexpr auto kLearnsOtherwise = [](Key &key) { key.training = Training::Differs; };
inline constexpr auto kLearnsOtherwiseUnlessDefault = [](Key &key) { key.training = Training::DiffersUnlessDefault; };
constexpr auto learnsOtherwiseBelow(int bits)
{
    return [=](Key &key) { key.training = Training::DiffersWhereFewer, key.unlessTold = bits; };
}

/// An axis of the search and a switch of the window, which both call so.
constexpr auto choice(const char *label, const char *id = nullptr, const char *group = nullptr)
{
    return [=](Key &key) { key.choice.label = label, key.choice.id = id, key.choice.group = group; };
}
template <auto... values> inline constexpr double kNumbers[] { double(values)... };
template <auto... values>
inline constexpr auto kWorthTrying = [](Key &key) { key.choice.values = kNumbers<values...>; };
/// Fewer in a search, which tries each with all else.
template <auto... values>
inline constexpr auto kTriedInSearch = [](Key &key) { key.choice.tried = kNumbers<values...>; };
constexpr auto none(const char *inId, const char *shown)
{
    return [=](Key &key) { key.choice.none = inId, key.choice.noneShown = shown; };
}
constexpr auto inUnits(const char *unit)
{
    return [=](Key &key) { key.choice.unit = unit; };
}
constexpr auto rests(const char *(*why)(const Plan &))
{
    return [=](Key &key) { key.choice.rests = why; };
}
constexpr auto fixedByMeasuring(const char *what)
{
    return [=](Key &key) { key.choice.measured = what; };
}
inline constexpr auto kOffered = [](Key &key) { key.choice.isOffered = true; };
inline constexpr auto kTried = [](Key &key) { key.choice.isTried = true; };
inline constexpr auto kOwnWork = [](Key &key) { key.hasOwnWork = true; };

template <class Owner, class T> struct KeyFinder : PlainValues {
    T Owner::*wanted;
    Key found { "", "" };

    explicit KeyFinder(T Owner::*member)
        : wanted(member)
    {
    }
    void value(T Owner::*member, const Key &key) { found = member == wanted ? key : found; }
    template <class Other> void value(Other, const Key &) { }
    template <class Other> void automatic(Other, const Key &) { }
};

/// The row of one plain member: keyOf(&WanLink::rttMs).
template <class Owner, class T> [[nodiscard]] Key keyOf(T Owner::*member)
{
    KeyFinder<Owner, T> finder(member);
    describe(finder, Of<Owner> {});
    return finder.found;
}

} // namespace keys

} // namespace trainyard
