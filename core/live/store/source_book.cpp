// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store/source_book.h"

#include <algorithm>

namespace trainyard::live {

namespace {

constexpr std::size_t kMostSources = 4'096;
constexpr std::size_t kMostNotes = 40, kMostReasons = 64; // of each
constexpr std::size_t kMostArgumentBytes = std::size_t(32) << 20;

} // namespace

std::uint32_t SourceBook::take(const Batch &batch)
{
    static const RecordedSource kNone;
    const RecordedSource &told = batch.part.sources.empty() ? kNone : batch.part.sources.front();
    auto known = m_index.find({ batch.source, told.file });
    if (known == m_index.end()) {
        if (m_sources.size() < kMostSources) {
            m_sources.push_back({ { .file = m_sources.size() + 1 < kMostSources ? told.file : "further connections",
                                      .kind = told.kind },
                {} });
            known = m_index.emplace(std::pair(batch.source, told.file), std::uint32_t(m_sources.size() - 1)).first;
            m_bytes += 2 * told.file.size() + 256;
        }
    }
    const auto number = known != m_index.end() ? known->second : std::uint32_t(m_sources.size() - 1);
    Kept &to = m_sources[number];
    if (m_name.empty())
        m_name = batch.part.name.substr(0, 1'000);
    for (const RecordedSource &one : batch.part.sources) {
        to.source.bytes += std::max<std::int64_t>(one.bytes, 0);
        to.source.taken += std::max<std::int64_t>(one.taken, 0);
        for (const Dropped &dropped : one.dropped) {
            const auto at = std::ranges::find(to.source.dropped, dropped.reason, &Dropped::reason);
            if (at != to.source.dropped.end())
                at->count += dropped.count;
            else if (to.source.dropped.size() < kMostReasons)
                to.source.dropped.push_back(dropped);
        }
        for (const std::string &sentence : one.notes)
            note(number, sentence);
    }
    takeArguments(to, batch.part.arguments);
    return number;
}

void SourceBook::takeArguments(Kept &kept, const std::map<std::string, std::string> &arguments)
{
    for (const auto &[name, value] : arguments) {
        const auto known = kept.arguments.find(name);
        if (m_bytes + name.size() + value.size() > kMostArgumentBytes)
            continue;
        m_bytes += value.size() + (known == kept.arguments.end() ? name.size() + 96 : 0);
        if (known == kept.arguments.end()) {
            kept.arguments.emplace(name, value);
        } else {
            m_bytes -= known->second.size();
            known->second = value; // a later attempt's
        }
    }
}

void SourceBook::note(std::uint32_t source, std::string sentence)
{
    auto &notes = m_sources[source].source.notes;
    if (sentence.empty() || notes.size() >= kMostNotes || std::ranges::find(notes, sentence) != notes.end())
        return;
    m_bytes += sentence.size();
    notes.push_back(std::move(sentence));
}

void SourceBook::writeTo(Recording &recording) const
{
    recording.name = m_name;
    for (std::uint32_t i = 0; i < m_sources.size(); ++i) {
        recording.sources.push_back(m_sources[i].source);
        recording.arguments.insert(m_sources[i].arguments.begin(), m_sources[i].arguments.end());
        if (!m_sources[i].arguments.empty())
            recording.argumentsOf.push_back({ i, m_sources[i].arguments });
    }
}

} // namespace trainyard::live
