// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/row_mixer.h"

#include "core/engine/timeline/cell_members.h"
#include "views/theme/job_colors.h"
#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"
#include "views/timeline/lane_pixels.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace trainyard {

namespace {

constexpr double kFade = 0.82; // of what a filter or the critical path puts back
constexpr std::uint32_t kSpansPerColumn = 6; // at least, where shares are shown
constexpr std::uint32_t kMostPerPixel = 8; // spans; of more, a mixed colour costs a third of what shares do
constexpr int kLeastPixels = 2, kMostPixels = 6; // of such a column
constexpr float kLeastMark = 0.55F; // of a mark's colour in a column that has any of it: it is what is looked for

QRgb toRgb(ColorLanes lanes)
{
    return qRgb(int(lanes[0]), int(lanes[1]), int(lanes[2]));
}

/// Which turn of its cell each pipeline class has; its number where the layout does not say.
std::vector<int> turnsByClass(const Evaluation &evaluation)
{
    int last = -1;
    for (const Track &track : evaluation.timeline.tracks)
        last = std::max(last, track.pipelineClass);
    const auto &classes = evaluation.layout.classes;
    std::vector<int> turns;
    for (int c = 0; c <= last; ++c)
        turns.push_back(c < int(classes.size()) ? classes[std::size_t(c)].cellMember : c);
    return turns;
}

} // namespace

QRgb mixed(QRgb a, QRgb b, double share)
{
    const auto channel = [share](int x, int y) { return int(std::lround(x + (y - x) * share)); };
    return qRgb(channel(qRed(a), qRed(b)), channel(qGreen(a), qGreen(b)), channel(qBlue(a), qBlue(b)));
}

PixelSpan pixelSpan(const Timeline &timeline, std::uint32_t span, TimeInterval range, int width)
{
    const double left = std::max(-8.0, timeToX(timeline.start[span], range, 0, width));
    const double right = std::min(width + 8.0, timeToX(timeline.end[span], range, 0, width));
    return { int(std::lround(left)), int(std::lround(right)), left, right };
}

void RowMixer::prepare(const TimelineState &state, bool fadesAll)
{
    const Theme &t = theme();
    m_fadesAll = fadesAll || state.focus.has_value();
    m_focusColors = state.focus ? focusColors() : std::vector<QColor>();
    m_focusLanes.clear();
    std::ranges::transform(m_focusColors, std::back_inserter(m_focusLanes), toLanes);
    m_turnOf = state.evaluation ? turnsByClass(*state.evaluation) : std::vector<int>();
    m_idle = t.idle.rgb();
    m_panel = t.panel.rgb();
    for (int k = 0; k < kWorkKindCount; ++k) {
        const QRgb color = t.work(WorkKind(k)).rgb();
        const auto slot = std::size_t(k);
        m_faded[slot] = toLanes(QColor(mixed(color, m_idle, kFade)));
        m_vivid[slot] = state.filter.hasKind(WorkKind(k)) && !m_fadesAll ? toLanes(QColor(color)) : m_faded[slot];
        m_ghost[slot] = toLanes(QColor(mixed(color, m_panel, 0.45)));
    }
    m_blocks.prepare(state.evaluation, m_vivid, m_faded);
    prepareJobs(state);
}

void RowMixer::prepareJobs(const TimelineState &state)
{
    m_classVivid.clear();
    m_classFaded.clear();
    m_jobOfClass.clear();
    m_jobVivid.clear();
    m_jobFaded.clear();
    m_jobInk.clear();
    m_isClassVivid.clear();
    m_classGhost.clear();
    if (state.baseline && isOfJobs(*state.baseline)) {
        std::vector<int> jobs = jobSpans(*state.baseline).ofClass;
        jobs.push_back(JobSpans::kNone);
        for (const int job : jobs)
            m_classGhost.push_back(toLanes(
                QColor(mixed((job < 0 ? theme().work(WorkKind::Prefill) : jobColor(job)).rgb(), m_panel, 0.45))));
    }
    if (state.jobs.isEmpty() || !state.timeline() || state.timeline()->taskClass.empty())
        return;
    const auto jobs = state.jobs.names.size();
    for (std::size_t job = 0; job <= jobs; ++job) {
        const QColor color =
            job < jobs ? jobColor(int(job)) : theme().work(WorkKind::Prefill); // all that belongs to none
        m_jobVivid.push_back(color.rgb());
        m_jobFaded.push_back(mixed(color.rgb(), m_idle, kFade));
        m_jobInk.push_back(inkOn(color).rgb());
    }
    const std::size_t classes = state.jobs.ofClass.size();
    for (std::size_t c = 0; c <= classes; ++c) { // and of spans of no class, prefill
        const int job = c < classes ? state.jobs.ofClass[c] : JobSpans::kNone;
        const std::size_t slot = job < 0 ? jobs : std::size_t(job);
        m_jobOfClass.push_back(std::uint16_t(std::min<std::size_t>(slot, 0xffff)));
        const bool isVivid = !m_fadesAll
            && (c < classes ? state.filter.matchesClass(state.timeline()->classes[c])
                            : state.filter.job < 0 && state.filter.hasKind(WorkKind::Prefill));
        m_isClassVivid.push_back(isVivid);
        m_classFaded.push_back(toLanes(QColor(m_jobFaded[slot])));
        m_classVivid.push_back(isVivid ? toLanes(QColor(m_jobVivid[slot])) : m_classFaded.back());
    }
}

const WorkPalette &RowMixer::paletteOf(const TimelineState &state, const Track &track) const
{
    return state.filter.matchesTrack(track) ? m_vivid : m_faded;
}

bool RowMixer::isVivid(const TimelineState &state, std::uint32_t span) const
{
    return !m_fadesAll && state.filter.matches(*state.timeline(), span);
}

QRgb RowMixer::fadedOf(const Timeline &timeline, std::uint32_t span) const
{
    return hasJobs() ? m_jobFaded[jobSlot(timeline, span)] : toRgb(m_faded[std::size_t(timeline.kind[span])]);
}

QRgb RowMixer::inkOf(const Timeline &timeline, std::uint32_t span, bool hasTurns) const
{
    if (hasJobs())
        return m_jobInk[jobSlot(timeline, span)];
    return hasTurns ? inkOn(QColor(fillOf(timeline, span, true))).rgb() : theme().workInk(timeline.kind[span]).rgb();
}

QRgb RowMixer::fillOf(const Timeline &timeline, std::uint32_t span, bool hasTurns) const
{
    const WorkKind kind = timeline.kind[span];
    if (hasJobs())
        return m_jobVivid[jobSlot(timeline, span)];
    return hasTurns && kind == WorkKind::WanTransfer
        ? turnShade(theme().work(kind), m_turnOf[std::size_t(sendingMember(timeline, span))]).rgb()
        : toRgb(m_vivid[std::size_t(kind)]);
}

std::span<const QRgb> RowMixer::mix(const TimelineState &state, const TrackRow &row, TimeInterval range, int width)
{
    if (row.kind == TrackRow::Kind::Summary)
        return blend(state, row.tracks, range, width);
    m_row.assign(std::size_t(width), m_idle);
    for (auto index = row.tracks.rbegin(); index != row.tracks.rend(); ++index) {
        if (row.hasTurns)
            addTurns(state, *index, range, width);
        else
            addTracks(state, { &*index, 1 }, range, width);
        m_walk.resolve(m_row);
        snapBars(state, *index, row.hasTurns, range, width);
        if (state.focus)
            addMarks(state, { &*index, 1 }, range, width);
    }
    return m_row;
}

std::span<const QRgb> RowMixer::blend(
    const TimelineState &state, std::span<const std::uint32_t> tracks, TimeInterval range, int width)
{
    m_row.assign(std::size_t(width), m_idle);
    addTracks(state, tracks, range, width);
    m_walk.resolve(m_row, int(tracks.size()));
    if (state.focus)
        addMarks(state, tracks, range, width);
    return m_row;
}

bool RowMixer::isDense(const TimelineState &state, const TrackRow &row, TimeInterval range, int width) const
{
    if (state.focus || (row.kind != TrackRow::Kind::Stage && row.kind != TrackRow::Kind::Summary))
        return false;
    const Track &track = state.timeline()->tracks[row.tracks.front()];
    const auto [from, to] = visibleSpans(*state.timeline(), track.first, track.last, range);
    return to - from > std::uint32_t(width) && to - from <= kMostPerPixel * std::uint32_t(width);
}

const KindShares &RowMixer::shares(const TimelineState &state, const TrackRow &row, TimeInterval range, int width)
{
    const Timeline &timeline = *state.timeline();
    const bool isSummary = row.kind == TrackRow::Kind::Summary;
    const Track &front = timeline.tracks[row.tracks.front()];
    const auto [from, to] = visibleSpans(timeline, front.first, front.last, range);
    const int pixels =
        std::clamp(int(kSpansPerColumn * std::uint32_t(width) / std::max(1u, to - from)), kLeastPixels, kMostPixels);
    m_shares.begin(range, std::max(1, width / pixels), int(m_jobVivid.size()));
    for (const std::uint32_t index : row.tracks) {
        const Track &track = timeline.tracks[index];
        if (hasJobs())
            m_shares.addJobs(timeline, track.first, track.last, m_jobOfClass,
                state.filter.matchesTrack(track) ? m_isClassVivid : std::vector<bool>(m_jobOfClass.size(), false),
                state.filter, isSummary ? 1.0 / double(row.tracks.size()) : 1);
        else
            m_shares.add(timeline, track.first, track.last, state.filter,
                m_fadesAll || !state.filter.matchesTrack(track), isSummary ? 1.0 / double(row.tracks.size()) : 1);
        if (!isSummary && index != row.tracks.back())
            m_shares.nextLayer();
    }
    if (!isSummary && row.tracks.size() > 1)
        m_shares.nextLayer();
    return m_shares;
}

KindShares::Colors RowMixer::colors() const
{
    KindShares::Colors colors;
    if (hasJobs())
        return { m_jobVivid, m_jobFaded };
    for (std::size_t k = 0; k < kWorkKindCount; ++k) {
        colors.vivid[k] = toRgb(m_vivid[k]);
        colors.faded[k] = toRgb(m_faded[k]);
    }
    return colors;
}

std::span<const QRgb> RowMixer::ghost(const TimelineState &state, const TrackRow &row, int width)
{
    const Timeline &baseline = state.baseline->timeline;
    const int index = sameTrack(baseline, state.timeline()->tracks[row.tracks.front()]);
    m_walk.begin(state.range, width);
    if (index >= 0) {
        const Track &track = baseline.tracks[std::size_t(index)];
        if (m_classGhost.empty() || baseline.taskClass.empty())
            m_walk.add(baseline, track.first, track.last, m_ghost);
        else
            m_walk.addByClass(baseline, track.first, track.last, m_classGhost, m_classGhost, {});
    }
    m_row.assign(std::size_t(width), m_panel);
    m_walk.resolve(m_row);
    return m_row;
}

void RowMixer::addTracks(
    const TimelineState &state, std::span<const std::uint32_t> tracks, TimeInterval range, int width)
{
    const Timeline &timeline = *state.timeline();
    m_walk.begin(range, width);
    for (const std::uint32_t index : tracks) {
        const Track &track = timeline.tracks[index];
        if (hasJobs())
            m_walk.addByClass(timeline, track.first, track.last,
                state.filter.matchesTrack(track) ? m_classVivid : m_classFaded, m_classFaded, state.filter);
        else if (state.filter.needsSpans())
            m_walk.add(timeline, track.first, track.last, paletteOf(state, track), m_faded, state.filter);
        else if (const BlockSums *sums = m_blocks.of(index, state.filter.matchesTrack(track), width))
            m_walk.add(timeline, track.first, track.last, paletteOf(state, track), *sums);
        else
            m_walk.add(timeline, track.first, track.last, paletteOf(state, track));
    }
}

void RowMixer::addTurns(const TimelineState &state, std::uint32_t index, TimeInterval range, int width)
{
    const Timeline &timeline = *state.timeline();
    const Track &track = timeline.tracks[index];
    m_walk.begin(range, width);
    m_walk.add(timeline, track.first, track.last, [&](std::uint32_t span) {
        return isVivid(state, span) ? toLanes(QColor(fillOf(timeline, span, true)))
                                    : m_faded[std::size_t(timeline.kind[span])];
    });
}

/// Over the faded rows, in the same way: a column has as much of a mark's colour as of its time.
void RowMixer::addMarks(
    const TimelineState &state, std::span<const std::uint32_t> tracks, TimeInterval range, int width)
{
    const TimeFocus &focus = *state.focus;
    m_walk.begin(range, width);
    for (const std::uint32_t index : tracks) {
        const Track &track = focus.timeline.tracks[index];
        m_walk.add(focus.timeline, track.first, track.last,
            [&](std::uint32_t mark) { return m_focusLanes[focus.marks[mark].paint]; });
    }
    m_below = m_row;
    m_walk.resolve(m_row, int(tracks.size()), kLeastMark);
    if (tracks.size() == 1)
        snapMarks(focus, tracks.front(), range, width);
}

/// Marks that can be told apart fill whole pixels and leave the gap behind their bar.
void RowMixer::snapMarks(const TimeFocus &focus, std::uint32_t track, TimeInterval range, int width)
{
    const auto [from, to] = distinctSpans(focus.timeline, track, range, width);
    for (std::uint32_t i = from; i < to; ++i) {
        const PixelSpan mark = pixelSpan(focus.timeline, i, range, width);
        if (mark.width() < kTellApart)
            continue;
        std::fill(m_row.begin() + std::max(0, mark.left), m_row.begin() + std::clamp(mark.right - 1, 0, width),
            fillOf(focus.marks[i]));
        if (mark.right > 0 && mark.right <= width)
            m_row[std::size_t(mark.right) - 1] = m_below[std::size_t(mark.right) - 1];
    }
}

std::pair<std::uint32_t, std::uint32_t> RowMixer::distinctSpans(
    const Timeline &timeline, std::uint32_t index, TimeInterval range, int width) const
{
    const auto [from, to] = visibleSpans(timeline, timeline.tracks[index].first, timeline.tracks[index].last, range);
    return to - from > std::uint32_t(width) / 2 ? std::pair { from, from } : std::pair { from, to };
}

void RowMixer::snapBars(const TimelineState &state, std::uint32_t index, bool hasTurns, TimeInterval range, int width)
{
    const Timeline &timeline = *state.timeline();
    const QRgb gap = mixed(m_idle, m_panel, 0.5);
    const auto [from, to] = distinctSpans(timeline, index, range, width);
    for (std::uint32_t i = from; i < to; ++i) {
        const PixelSpan bar = pixelSpan(timeline, i, range, width);
        if (bar.width() < kTellApart)
            continue;
        const QRgb fill = isVivid(state, i) ? fillOf(timeline, i, hasTurns) : fadedOf(timeline, i);
        const auto put = [&](int x, QRgb color) {
            if (x >= 0 && x < width)
                m_row[std::size_t(x)] = color;
        };
        for (int x = std::max(0, bar.left); x < std::min(width, bar.right - 1); ++x)
            m_row[std::size_t(x)] = fill;
        // A neighbour too short to be a bar of its own may have nothing but this column: its mix stays.
        const auto sharesColumn = [&](std::uint32_t other, int column) {
            const PixelSpan beside = pixelSpan(timeline, other, range, width);
            return beside.width() < kTellApart && beside.exactLeft < column + 1 && beside.exactRight > column;
        };
        const bool hasNext = i + 1 < to, hasPrevious = i > from;
        if (!hasNext || !sharesColumn(i + 1, bar.right - 1))
            put(bar.right - 1, gap);
        // What the blend left of this bar in the columns beside its rounded ends.
        if (bar.exactRight > bar.right && !(hasNext && sharesColumn(i + 1, bar.right)))
            put(bar.right, m_idle);
        if (bar.exactLeft < bar.left && bar.left > 0
            && (!hasPrevious || (timeline.end[i - 1] < timeline.start[i] && !sharesColumn(i - 1, bar.left - 1))))
            put(bar.left - 1, m_idle);
    }
}

} // namespace trainyard
