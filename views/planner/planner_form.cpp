// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/planner_form.h"

#include "core/facts/plan/key_list.h"
#include "models/planner_words.h"
#include "views/parts/panel_parts.h"
#include "views/planner/limit_row.h"
#include "views/theme/icons.h"
#include "views/theme/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kChoiceWidth = 215; // pixels beside the mark of a check box
constexpr const char *kPinRow = "pin "; // and the key

QVBoxLayout *tightList()
{
    auto *list = new QVBoxLayout;
    list->setContentsMargins(0, 0, 0, 0);
    list->setSpacing(3);
    return list;
}

/// As wide as there is room; what does not fit is in its tooltip.
void yieldWidth(QWidget &control)
{
    control.setSizePolicy(QSizePolicy::Ignored, control.sizePolicy().verticalPolicy());
}

/// Broken between words: a check box does not do so itself.
QString inLines(const QString &text, const QFontMetrics &metrics)
{
    QStringList lines;
    for (const QString &word : text.split(u' ')) {
        const QString longer = lines.isEmpty() ? word : lines.back() + u' ' + word;
        if (!lines.isEmpty() && metrics.horizontalAdvance(longer) <= kChoiceWidth)
            lines.back() = longer;
        else
            lines << word;
    }
    for (QString &line : lines)
        line = metrics.elidedText(line, Qt::ElideRight, kChoiceWidth).replace(u'&', QStringLiteral("&&"));
    return lines.join(u'\n');
}

QWidget *named(const QString &name, QWidget *control, QWidget *parent)
{
    auto *row = new QWidget(parent);
    auto *layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    auto *label = new TextLine(name, Ink::Text, row);
    layout->addWidget(label, 46);
    layout->addWidget(control, 54);
    control->setAccessibleName(name);
    for (QWidget *widget : { static_cast<QWidget *>(label), control })
        widget->setSizePolicy(QSizePolicy::Ignored, widget->sizePolicy().verticalPolicy());
    return row;
}

} // namespace

PlannerForm::PlannerForm(PlanSearch &search, QWidget *parent)
    : QWidget(parent)
    , objective(new QComboBox(this))
    , robustness(new QComboBox(this))
    , budget(new LimitRow(
          { tr("Budget"), tr(" $/h"), tr("no limit"),
              tr("Most dollars per hour of the plan as it would be adopted, egress included."), 1e9, 2, 0.01 },
          this))
    , gpus(new LimitRow({ tr("GPUs, at most"), {}, tr("no limit"), tr("Most GPUs that are used."), 1e7, 0, 1 }, this))
    , throughput(new LimitRow(
          { tr("Tokens/s, at least"), {}, tr("no limit"), tr("Least tokens per second."), 1e12, 0, 1 }, this))
    , days(new LimitRow({ tr("Days, at most"), tr(" days"), tr("no limit"),
                            tr("Most days for all training tokens of the workload."), 1e6, 1, 0.1 },
          this))
    , margin(new LimitRow({ tr("Memory free"), tr(" %"), tr("automatic"),
                              tr("Share of each GPU's memory that stays free. Automatic: 5 %, or what the plan itself "
                                 "leaves where that is less."),
                              90, 0, 0 },
          this))
    , seconds(new LimitRow({ tr("Seconds, at most"), tr(" s"), tr("until done"),
                               tr("It stops then and keeps the best. Until done: until every candidate was simulated "
                                  "or cannot be better."),
                               86'400, 0, 1 },
          this))
    , seed(new LimitRow(
          { tr("Seed"), {}, QStringLiteral("0"),
              tr("Of what is drawn where there are too many candidates to look at all."), kMostSeed, 0, 1 },
          this))
    , trainOtherwise(new QCheckBox(tr("May affect convergence"), this))
    , keepsIdle(new QCheckBox(tr("Keep idle GPUs"), this))
    , m_search(search)
    , m_placesTitle(new SectionTitle(tr("Datacenters"), {}, this))
    , m_scenariosTitle(new SectionTitle(tr("Scenarios"), {}, this))
    , m_pinsTitle(new SectionTitle(tr("Fixed"), {}, this))
    , m_placesList(tightList())
    , m_scenariosList(tightList())
    , m_pinsList(tightList())
    , m_noPins(new TextLine(tr("Nothing. A pin beside a strategy keeps its value."), Ink::Faint, this))
    , m_robustnessRow(named(tr("Judged by"), robustness, this))
{
    setFont(uiFont(-1));
    setAccessibleName(tr("What the planner looks for"));
    for (const Objective one :
        { Objective::Throughput, Objective::Cost, Objective::Energy, Objective::Time, Objective::Gpus }) {
        objective->addItem(nameOf(one));
        objective->setItemData(objective->count() - 1, meaningOf(one), Qt::ToolTipRole);
    }
    robustness->addItem(tr("worst case"));
    robustness->addItem(tr("expectation"));
    robustness->setToolTip(
        tr("Worst case: as it is in the worst of the scenarios that are ticked, and feasible in all of them. "
           "Expectation: the mean over them."));
    trainOtherwise->setToolTip(
        tr("Also settings by which the model learns otherwise, such as another optimizer or compressed gradients."));
    keepsIdle->setToolTip(tr("On: a plan keeps the nodes that it leaves idle, and every price is that of the whole "
                             "cluster. Off: adopting gives them back, and every price is without them. With scenarios "
                             "they are kept, since another world may need them."));
    m_noPins->setWrapped(true);
    objective->setAccessibleName(tr("Objective"));
    yieldWidth(*objective);
    yieldWidth(*trainOtherwise);
    yieldWidth(*keepsIdle);
    yieldWidth(*m_noPins);
    arrange();
    connect(objective, &QComboBox::activated, this,
        [this](int at) { change([at](PlannerSettings &next) { next.objective = Objective(at); }); });
    connect(robustness, &QComboBox::activated, this,
        [this](int at) { change([at](PlannerSettings &next) { next.robustness = Robustness(at); }); });
    connect(trainOtherwise, &QCheckBox::toggled, this,
        [this](bool may) { change([may](PlannerSettings &next) { next.mayTrainOtherwise = may; }); });
    connect(keepsIdle, &QCheckBox::toggled, this, [this](bool keeps) {
        if (m_isFilling)
            return;
        change([keeps](PlannerSettings &next) { next.keepsIdle = keeps; });
        if (m_search.state() == PlanSearch::State::Ended)
            m_search.start(); // the table with the other prices, and what they leave within the budget
    });
    for (LimitRow *row : { budget, gpus, throughput, days, margin, seconds, seed })
        connect(row, &LimitRow::edited, this, [this] {
            change([this](PlannerSettings &next) {
                const auto whole = [](std::optional<double> number) {
                    return number ? std::optional(int(*number)) : std::nullopt;
                };
                next.mostUsdPerHour = budget->limit();
                next.mostGpus = whole(gpus->limit());
                next.leastTokensPerSecond = throughput->limit();
                next.mostDays = days->limit();
                next.memoryMargin = margin->limit() ? std::optional(*margin->limit() / 100) : std::nullopt;
                next.seconds = seconds->limit();
                next.seed = std::uint64_t(seed->limit().value_or(0));
            });
        });
    connect(&search, &PlanSearch::settingsChanged, this, &PlannerForm::refresh);
    refresh();
}

void PlannerForm::arrange()
{
    QVBoxLayout *column = panelLayout(this);
    column->setSpacing(5);
    column->addWidget(new SectionTitle(tr("Objective"), {}, this));
    column->addWidget(objective);
    column->addWidget(new SectionTitle(tr("Constraints"), {}, this));
    for (LimitRow *row : { budget, gpus, throughput, days, margin })
        column->addWidget(row);
    column->addWidget(keepsIdle);
    column->addWidget(trainOtherwise);
    column->addWidget(m_placesTitle);
    column->addLayout(m_placesList);
    column->addWidget(m_pinsTitle);
    column->addWidget(m_noPins);
    column->addLayout(m_pinsList);
    column->addWidget(m_scenariosTitle);
    column->addWidget(m_robustnessRow);
    column->addLayout(m_scenariosList);
    column->addWidget(new SectionTitle(tr("Search"), {}, this));
    column->addWidget(seconds);
    column->addWidget(seed);
    column->addStretch(1);
}

template <class Change> void PlannerForm::change(Change change)
{
    if (m_isFilling)
        return;
    PlannerSettings next = m_search.settings();
    change(next);
    m_search.setSettings(next);
}

void PlannerForm::refresh()
{
    m_isFilling = true;
    const PlannerSettings &settings = m_search.settings();
    objective->setCurrentIndex(int(settings.objective));
    objective->setToolTip(meaningOf(settings.objective));
    robustness->setCurrentIndex(int(settings.robustness));
    budget->setLimit(settings.mostUsdPerHour);
    gpus->setLimit(settings.mostGpus ? std::optional(double(*settings.mostGpus)) : std::nullopt);
    throughput->setLimit(settings.leastTokensPerSecond);
    days->setLimit(settings.mostDays);
    margin->setLimit(settings.memoryMargin ? std::optional(*settings.memoryMargin * 100) : std::nullopt);
    seconds->setLimit(settings.seconds);
    seed->setLimit(double(settings.seed));
    trainOtherwise->setChecked(settings.mayTrainOtherwise);
    keepsIdle->setChecked(settings.keepsIdle);
    const PlanPtr &plan = m_search.plan();
    if (plan && (!m_listedFor || !(m_listedFor->cluster == plan->cluster))) {
        listPlaces();
        listScenarios();
        m_listedFor = plan;
    }
    for (std::size_t i = 0; i < m_datacenters.size(); ++i)
        m_datacenters[i]->setChecked(!settings.avoidedDatacenters.contains(m_listedFor->cluster.datacenters[i].id));
    for (std::size_t i = 0; i < m_scenarios.size(); ++i)
        m_scenarios[i]->setChecked(settings.scenarios.contains(m_search.scenarios()[i].text));
    listPins();
    m_isFilling = false;
}

void PlannerForm::listPlaces()
{
    clearLayout(m_placesList);
    m_datacenters.clear();
    for (const Datacenter &place : m_search.plan()->cluster.datacenters) {
        auto *box = new QCheckBox(QString::fromStdString(place.name.empty() ? place.id : place.name), this);
        yieldWidth(*box);
        box->setToolTip(tr("Whether GPUs of this datacenter may be used."));
        connect(box, &QCheckBox::toggled, this, [this, id = place.id](bool may) {
            change([&](PlannerSettings &next) {
                if (may)
                    next.avoidedDatacenters.erase(id);
                else
                    next.avoidedDatacenters.insert(id);
            });
        });
        m_placesList->addWidget(box);
        m_datacenters.push_back(box);
    }
    m_placesTitle->setVisible(!m_datacenters.empty());
}

void PlannerForm::listScenarios()
{
    clearLayout(m_scenariosList);
    m_scenarios.clear();
    for (const NamedScenario &named : m_search.scenarios()) {
        const QString name = QString::fromStdString(named.scenario.name);
        auto *box = new QCheckBox(inLines(name, fontMetrics()), this);
        box->setAccessibleName(name);
        yieldWidth(*box);
        box->setToolTip(tr("%1: each candidate is judged in this world too.").arg(name));
        connect(box, &QCheckBox::toggled, this, [this, text = named.text](bool counts) {
            change([&](PlannerSettings &next) {
                if (counts)
                    next.scenarios.insert(text);
                else
                    next.scenarios.erase(text);
            });
        });
        m_scenariosList->addWidget(box);
        m_scenarios.push_back(box);
    }
    m_scenariosTitle->setVisible(!m_scenarios.empty());
    m_robustnessRow->setVisible(!m_scenarios.empty());
}

void PlannerForm::listPins()
{
    const std::set<std::string> &pins = m_search.settings().pins;
    m_noPins->setVisible(pins.empty());
    if (std::exchange(m_listedPins, pins) == pins)
        return;
    clearLayout(m_pinsList);
    for (const std::string &key : pins) {
        auto *row = new QWidget(this);
        row->setObjectName(QLatin1String(kPinRow) + QString::fromStdString(key));
        auto *layout = new QHBoxLayout(row);
        layout->setContentsMargins(0, 0, 0, 0);
        auto *name = new TextLine(QString::fromUtf8(planKey(key).key.title), Ink::Text, row);
        name->setToolTip(QString::fromStdString(key));
        auto *release = new QToolButton(row);
        release->setIcon(themedIcon(QStringLiteral("close")));
        release->setProperty("isFlat", true);
        release->setToolTip(tr("The planner may change it again"));
        release->setAccessibleName(tr("Release %1").arg(name->text()));
        layout->addWidget(name, 1);
        layout->addWidget(release);
        connect(release, &QToolButton::clicked, this, [this, key] { m_search.setPinned(key, false); });
        m_pinsList->addWidget(row);
    }
}

QWidget *PlannerForm::pinRow(const std::string &key) const
{
    return m_search.isPinned(key) ? findChild<QWidget *>(QLatin1String(kPinRow) + QString::fromStdString(key))
                                  : nullptr;
}

} // namespace trainyard
