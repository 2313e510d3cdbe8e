// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_search.h"

#include <QMetaObject>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

namespace trainyard {

/// What the searching thread has told and the window has not taken yet.
struct PlanSearch::News {
    std::mutex mutex;
    std::uint64_t number = 0;
    std::vector<SearchRow> rows;
    SearchProgress last;
    bool isTold = false; // an event is on its way
};

namespace {

Errors internalError(const std::exception &failure)
{
    return { { ErrorCode::Internal, {}, failure.what(), {} } };
}

} // namespace

PlanSearch::PlanSearch(const Catalogue &catalogue, PlannerEngine engine, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_engine(std::move(engine))
    , m_settings(rememberedPlannerSettings())
    , m_news(std::make_shared<News>())
    , m_searcher(RunPool::shared().threads(), WorkPool::Rank::Search,
          [this](const Question &question, const std::stop_token &stop) { search(question, stop); })
    , m_stepper(RunPool::shared().threads(), WorkPool::Rank::Search,
          [this](const StepQuestion &question, const std::stop_token &stop) { workOutSteps(question, stop); })
    , m_writer(RunPool::shared().threads(), WorkPool::Rank::Awaited,
          [this](const WriteQuestion &question, const std::stop_token &stop) { workOutWritten(question, stop); })
{
}

PlanSearch::~PlanSearch() = default;

void PlanSearch::setEngine(PlannerEngine engine)
{
    clear();
    m_engine = std::move(engine);
    if (m_plan)
        m_scenarios = m_engine.scenarios(*m_plan, m_catalogue);
}

void PlanSearch::setPlan(const PlanPtr &plan)
{
    if (plan == m_plan)
        return;
    const bool isOtherCluster = !m_plan || !plan || !(m_plan->cluster == plan->cluster);
    m_plan = plan;
    dropAwaited();
    if (isOtherCluster)
        m_scenarios = plan ? m_engine.scenarios(*plan, m_catalogue) : std::vector<NamedScenario>();
    Q_EMIT planChanged(plan);
}

void PlanSearch::setSettings(const PlannerSettings &settings)
{
    if (settings == m_settings)
        return;
    m_settings = settings;
    remember(settings);
    Q_EMIT settingsChanged();
}

void PlanSearch::setPinned(const std::string &key, bool isPinned)
{
    PlannerSettings next = m_settings;
    if (isPinned)
        next.pins.insert(key);
    else
        next.pins.erase(key);
    setSettings(next);
}

void PlanSearch::start()
{
    if (!m_plan || m_state == State::Searching)
        return;
    ++m_number;
    m_searched = m_plan;
    m_askedSettings = m_settings;
    m_asked = searchOptions(m_settings, *m_plan, m_scenarios);
    forgetAnswer();
    const std::vector<Datacenter> &places = m_plan->cluster.datacenters;
    if (!places.empty() && std::ranges::all_of(places, [this](const Datacenter &place) {
            return m_settings.avoidedDatacenters.contains(place.id);
        })) { // an empty list of those that may be used would mean all
        m_state = State::Refused;
        m_refusals = { { ErrorCode::OutOfRange, {}, "no datacenter may be used", "one that is ticked" } };
        Q_EMIT started();
        Q_EMIT ended();
        return;
    }
    m_state = State::Searching;
    m_clock.start();
    m_stop = {};
    m_searcher.post(Question { m_number, m_plan, m_asked, m_stop }, true);
    Q_EMIT started();
}

void PlanSearch::stop()
{
    if (m_state != State::Searching)
        return;
    m_isStopping = true;
    m_stop.request_stop(); // the answer comes as ever, with what was found
    Q_EMIT rowsAdded();
}

void PlanSearch::clear()
{
    if (m_state == State::Empty)
        return;
    ++m_number; // what is on its way is not wanted
    m_searcher.post(std::nullopt, true);
    forgetAnswer();
    m_state = State::Empty;
    m_searched.reset();
    Q_EMIT cleared();
}

void PlanSearch::forgetAnswer()
{
    m_stepper.post(std::nullopt, true);
    dropAwaited();
    m_isStopping = false;
    m_refusals.clear();
    m_rows.clear();
    m_best.clear();
    m_space.reset();
    m_result.reset();
    m_written.clear();
    m_steps.reset();
    m_progress = {};
}

bool PlanSearch::isOfEarlierPlan() const
{
    return m_searched && m_plan && m_searched != m_plan && *m_searched != *m_plan;
}

std::optional<std::size_t> PlanSearch::own() const
{
    for (const Written &written : m_written)
        if (m_plan && (written.plan == m_plan || *written.plan == *m_plan))
            if (const auto row = std::ranges::find(m_rows, written.number, &SearchRow::number); row != m_rows.end())
                return std::size_t(row - m_rows.begin());
    return searchedRow();
}

PlanPtr PlanSearch::planBefore() const
{
    const auto row = own();
    return row && row != searchedRow() ? planOf(*row) : m_plan;
}

std::optional<std::size_t> PlanSearch::searchedRow() const
{
    if (m_result)
        return m_result->own;
    if (!m_space || m_rows.empty())
        return std::nullopt;
    const std::uint64_t number = m_space->number(m_space->baseCandidate());
    return m_rows.front().number == number ? std::optional<std::size_t>(0) : std::nullopt;
}

PlanPtr PlanSearch::planOf(std::size_t row) const
{
    if (!m_space || row >= m_rows.size())
        return nullptr;
    PlanPtr made = m_space->plan(m_space->candidate(m_rows[row].number));
    return searchedRow() == row ? made : withReplicas(made, m_rows[row].data);
}

int PlanSearch::givesBack(std::size_t row) const
{
    if (m_asked.keepsIdle || !m_searched || row >= m_rows.size() || m_rows[row].gpus <= 0)
        return 0;
    for (const Written &written : m_written)
        if (written.number == m_rows[row].number)
            return written.gone;
    return std::max(0, m_searched->cluster.gpus() - m_rows[row].gpus);
}

void PlanSearch::withWrittenPlan(std::size_t row, QObject *context, std::function<void(const PlanPtr &plan)> then)
{
    dropAwaited();
    const PlanPtr plan = planOf(row);
    if (!plan)
        return;
    const std::uint64_t number = m_rows[row].number;
    auto known = std::ranges::find(m_written, number, &Written::number);
    if (known == m_written.end() && givesBack(row) == 0)
        known = m_written.insert(known, { number, plan, 0 });
    if (known != m_written.end()) {
        then(PlanPtr(known->plan));
        return;
    }
    m_awaited = { m_awaited.turn, context, std::move(then) };
    m_writer.post(WriteQuestion { m_number, m_awaited.turn, { number, plan, 0 } }, true);
}

void PlanSearch::dropAwaited()
{
    m_writer.post(std::nullopt, true);
    m_awaited = { .turn = m_awaited.turn + 1 };
}

void PlanSearch::workOutWritten(const WriteQuestion &question, const std::stop_token &stop)
{
    RunPool &pool = RunPool::shared();
    Written found = question.row; // which stays where it cannot run: its numbers say why
    bool isKnown = true;
    try {
        if (const auto made = m_engine.withoutIdle(found.plan, { m_catalogue, pool.workspace(), stop }))
            found = { found.number, made->plan, made->gone };
    } catch (const std::exception &) { // out of memory: the plan as it is can be tried all the same
        pool.renewWorkspace();
        isKnown = false; // and is asked again
    }
    if (stop.stop_requested())
        return;
    QMetaObject::invokeMethod(
        this, [this, question, found, isKnown] { takeWritten(question, found, isKnown); }, Qt::QueuedConnection);
}

void PlanSearch::takeWritten(const WriteQuestion &question, const Written &found, bool isKnown)
{
    if (question.number != m_number || question.turn != m_awaited.turn)
        return;
    if (isKnown)
        m_written.push_back(found);
    const Awaited awaited = std::exchange(m_awaited, { .turn = m_awaited.turn });
    if (awaited.context)
        awaited.then(found.plan);
}

/// Its idle GPUs are there as it is: money of the row is that of its whole cluster, as the window tells it.
void PlanSearch::payForOwn()
{
    const auto own = searchedRow();
    if (!own || *own >= m_rows.size() || m_asked.keepsIdle || !(m_rows[*own].clusterUsdPerHour > 0))
        return;
    SearchRow &row = m_rows[*own];
    if (m_asked.objective == Objective::Cost && row.value == row.usdPerMillionTokens)
        row.value = row.clusterUsdPerMillionTokens;
    row.usdPerHour = row.clusterUsdPerHour;
    row.usdPerMillionTokens = row.clusterUsdPerMillionTokens;
}

void PlanSearch::search(const Question &question, const std::stop_token &stop)
{
    const auto tell = [this, number = question.number](const SearchProgress &progress) {
        const std::lock_guard lock(m_news->mutex);
        if (std::exchange(m_news->number, number) != number)
            m_news->rows.clear();
        m_news->rows.insert(m_news->rows.end(), progress.rows.begin(), progress.rows.end());
        m_news->last = progress;
        m_news->last.rows = {};
        if (!std::exchange(m_news->isTold, true))
            QMetaObject::invokeMethod(this, &PlanSearch::takeNews, Qt::QueuedConnection);
    };
    ExpectedAll<SearchResult> found = std::unexpected(Errors {});
    const std::stop_callback link(stop, [source = question.stop]() mutable { source.request_stop(); });
    try {
        found = m_engine.search(question.plan, m_catalogue, question.options, question.stop.get_token(), tell);
    } catch (const std::exception &failure) { // out of memory, or a fault of ours: the window must live on
        found = std::unexpected(internalError(failure));
    }
    std::shared_ptr<const SearchResult> result;
    Errors errors;
    if (found)
        result = std::make_shared<const SearchResult>(std::move(*found));
    else
        errors = std::move(found.error());
    QMetaObject::invokeMethod(
        this, [this, number = question.number, result, errors] { finish(number, result, errors); },
        Qt::QueuedConnection);
}

void PlanSearch::takeNews()
{
    std::vector<SearchRow> rows;
    SearchProgress last;
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(m_news->mutex);
        m_news->isTold = false;
        number = m_news->number;
        rows.swap(m_news->rows);
        last = m_news->last;
    }
    if (number != m_number || m_state != State::Searching)
        return;
    m_space = last.space ? last.space : m_space;
    m_progress = { .looked = last.looked,
        .simulated = last.simulated,
        .total = last.total,
        .seconds = double(m_clock.elapsed()) * 1e-3 };
    const std::size_t room = m_asked.mostRows - std::min(m_asked.mostRows, m_rows.size());
    m_rows.insert(m_rows.end(), rows.begin(), rows.begin() + std::ptrdiff_t(std::min(room, rows.size())));
    payForOwn();
    rankRows();
    Q_EMIT rowsAdded();
}

/// The best of the rows so far; of equal ones the search may put others in front at its end.
void PlanSearch::rankRows()
{
    std::vector<std::size_t> feasible;
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        if (m_rows[i].state == RowState::Feasible)
            feasible.push_back(i);
    const std::size_t top = std::min(m_asked.top, feasible.size());
    std::ranges::partial_sort(feasible, feasible.begin() + std::ptrdiff_t(top), {},
        [this](std::size_t i) { return std::pair(m_rows[i].value, m_rows[i].number); });
    feasible.resize(top);
    m_best = std::move(feasible);
}

void PlanSearch::finish(std::uint64_t number, std::shared_ptr<const SearchResult> found, const Errors &errors)
{
    if (number != m_number || m_state != State::Searching)
        return;
    m_isStopping = false;
    if (found) {
        m_result = std::move(found);
        m_state = State::Ended;
        m_space = m_result->space;
        m_rows = m_result->rows;
        m_best = m_result->best;
        payForOwn();
        std::ranges::stable_sort(m_best, {}, [this](std::size_t i) { return m_rows[i].value; });
        m_progress = { .looked = m_result->looked,
            .simulated = m_result->simulated,
            .total = m_progress.total,
            .left = m_result->left,
            .seconds = m_result->elapsed };
    } else {
        m_state = State::Refused;
        m_refusals = errors;
    }
    Q_EMIT ended();
    if (m_result && !m_best.empty())
        askSteps(m_best.front());
}

void PlanSearch::askSteps(std::size_t row)
{
    if (!m_result || row >= m_rows.size() || (m_steps && m_steps->row == row))
        return;
    m_steps = Steps { .row = row };
    Q_EMIT stepsChanged();
    m_stepper.post(StepQuestion { m_number, m_result, row }, true);
}

void PlanSearch::workOutSteps(const StepQuestion &question, const std::stop_token &stop)
{
    RunPool &pool = RunPool::shared();
    Steps answer { .row = question.row, .isComplete = true };
    try {
        if (auto steps = m_engine.steps(*question.found, question.row, m_catalogue, pool.workspace(), stop))
            answer.list = std::move(*steps);
        else if (!steps.error().empty())
            answer.refusal = steps.error().front().what;
    } catch (const std::exception &failure) {
        pool.renewWorkspace();
        answer.refusal = failure.what();
    }
    if (stop.stop_requested())
        return;
    QMetaObject::invokeMethod(
        this,
        [this, number = question.number, answer = std::move(answer)] {
            if (number != m_number || !m_steps || m_steps->row != answer.row)
                return;
            m_steps = answer;
            Q_EMIT stepsChanged();
        },
        Qt::QueuedConnection);
}

} // namespace trainyard
