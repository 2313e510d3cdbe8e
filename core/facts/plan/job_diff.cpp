// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences about two lists of jobs and two grids. Jobs are told apart by their names; where one name has taken the
// place of another, the job was renamed. GPUs are counted from 0, as in the file.
#include "core/base/words.h"
#include "core/facts/plan/diff_internal.h"

#include <algorithm>
#include <map>

namespace trainyard::detail {

namespace {

using Jobs = std::vector<Job>;

std::string gpusText(const std::vector<int> &gpus)
{
    std::string text = gpus.size() == 1 ? "GPU " : "GPUs ";
    for (std::size_t i = 0; i < gpus.size(); ++i)
        text += (i > 0 ? ", " : "") + std::to_string(gpus[i]);
    return cutText(text);
}

std::string secondsOrNone(const std::optional<double> &value)
{
    return value ? plainNumber(*value) : "none";
}

void describeJob(const Job &before, const Job &after, Sentences &sentences)
{
    const std::string name = shownText(after.name), subject = "of " + name;
    if (before.name != after.name)
        sentences.push_back("Rename job " + shownText(before.name) + " to " + name);
    if (before.paused != after.paused)
        sentences.push_back((after.paused ? "Pause job " : "Resume job ") + name);
    if (before.pinnedGpus != after.pinnedGpus)
        sentences.push_back(after.pinnedGpus.empty() ? "Let job " + name + " run on any GPU"
                                                     : "Pin job " + name + " to " + gpusText(after.pinnedGpus));
    for (std::optional<double> Job::*member : { &Job::deadlineS, &Job::learningRate })
        if (before.*member != after.*member)
            sentences.push_back(changeSentence(
                keys::keyOf(member), subject, secondsOrNone(before.*member), secondsOrNone(after.*member)));
    if (before.unitMs != after.unitMs)
        sentences.push_back(
            changeSentence(keys::keyOf(&Job::unitMs), subject, shownText(before.unitMs), shownText(after.unitMs)));
    Job rest = before;
    rest.name = after.name, rest.paused = after.paused, rest.pinnedGpus = after.pinnedGpus;
    rest.deadlineS = after.deadlineS, rest.learningRate = after.learningRate, rest.unitMs = after.unitMs;
    describeObject(subject, rest, after, sentences);
}

/// For each job of `after`, where it was; -1: it is new.
std::vector<int> whereTheyWere(const Jobs &before, const Jobs &after)
{
    std::multimap<std::string_view, int> known; // equal names in order of the list
    for (std::size_t i = 0; i < before.size(); ++i)
        known.emplace(before[i].name, int(i));
    std::vector<int> was;
    for (const Job &job : after) {
        const auto found = known.lower_bound(job.name);
        const bool isKnown = found != known.end() && found->first == job.name;
        was.push_back(isKnown ? found->second : -1);
        if (isKnown)
            known.erase(found);
    }
    if (before.size() == after.size()) { // what has nobody left has been renamed where it stands
        std::vector<bool> isTaken(before.size(), false);
        for (const int place : was)
            if (place >= 0)
                isTaken[std::size_t(place)] = true;
        for (std::size_t i = 0; i < after.size(); ++i)
            if (was[i] < 0 && !isTaken[i])
                was[i] = int(i);
    }
    return was;
}

void describeSeveral(const char *verb, const std::vector<std::string> &names, Sentences &sentences)
{
    if (names.size() == 1)
        sentences.push_back(std::string(verb) + " job " + shownText(names.front()));
    else if (!names.empty())
        sentences.push_back(
            std::string(verb) + " " + counted(std::int64_t(names.size()), "job") + ": " + cutText(joined(names, ", ")));
}

/// `order`: the places that the jobs at `places` of `after` had before.
void describeOrder(
    const std::vector<int> &order, const std::vector<std::size_t> &places, const Jobs &after, Sentences &sentences)
{
    std::vector<int> sorted = order;
    std::ranges::sort(sorted);
    const auto [now, once] = std::ranges::mismatch(order, sorted);
    if (now == order.end())
        return;
    for (const int moved : { *now, *once }) { // one came forward to here, or went back from here
        std::vector<int> others = order;
        std::erase(others, moved);
        if (std::ranges::is_sorted(others)) {
            const std::size_t place = places[std::size_t(std::ranges::find(order, moved) - order.begin())];
            sentences.push_back("Move job " + shownText(after[place].name) + " to place " + std::to_string(place + 1));
            return;
        }
    }
    sentences.push_back("Jobs rearranged");
}

struct GridDiffer {
    const JobGrid &before;
    const JobGrid &after;
    Sentences &sentences;

    template <class T> static std::string text(const std::vector<T> &values)
    {
        std::vector<std::string> texts;
        for (const T &value : values) {
            if constexpr (std::is_enum_v<T>)
                texts.emplace_back(toString(value));
            else
                texts.push_back(shownText(value));
        }
        return texts.empty() ? "default" : cutText(joined(texts, ", "));
    }

    template <class T> void value(std::vector<T> JobGrid::*member, const Key &key)
    {
        if (before.*member != after.*member)
            sentences.push_back(changeSentence(key, "of the grid", text(before.*member), text(after.*member)));
    }
};

std::string gridText(const JobGrid &grid)
{
    Plan alone;
    alone.jobGrid = grid;
    return "grid of " + counted(std::int64_t(jobCount(alone)), "job");
}

} // namespace

void describeJobs(const Jobs &before, const Jobs &after, Sentences &sentences)
{
    const std::vector<int> was = whereTheyWere(before, after);
    std::vector<bool> isKept(before.size(), false);
    std::vector<int> order;
    std::vector<std::size_t> kept;
    std::vector<std::string> added, removed;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (was[i] < 0) {
            added.push_back(after[i].name);
            continue;
        }
        isKept[std::size_t(was[i])] = true;
        order.push_back(was[i]);
        kept.push_back(i);
    }
    for (std::size_t i = 0; i < before.size(); ++i)
        if (!isKept[i])
            removed.push_back(before[i].name);
    describeSeveral("Add", added, sentences);
    describeSeveral("Remove", removed, sentences);
    describeOrder(order, kept, after, sentences);
    for (std::size_t i = 0; i < after.size(); ++i)
        if (was[i] >= 0)
            describeJob(before[std::size_t(was[i])], after[i], sentences);
}

void describeGrid(const std::optional<JobGrid> &before, const std::optional<JobGrid> &after, Sentences &sentences)
{
    if (!before || !after) {
        sentences.push_back(after ? "Add a " + gridText(*after) : "Remove the " + gridText(*before));
        return;
    }
    GridDiffer differ { *before, *after, sentences };
    describe(differ, keys::Of<JobGrid> {});
    Differ<JobGrid>(*before, *after, "of the grid", sentences).rest();
}

} // namespace trainyard::detail
