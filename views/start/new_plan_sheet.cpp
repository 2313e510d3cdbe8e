// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/start/new_plan_sheet.h"

#include "models/config_model.h"
#include "models/dropped_file.h"
#include "models/new_plan_text.h"
#include "models/plan_store.h"
#include "views/parts/text_line.h"
#include "views/start/choice_field.h"
#include "views/start/link_rows.h"
#include "views/start/new_plan_layout.h"
#include "views/start/site_row.h"
#include "views/start/start_fields.h"

#include <QDropEvent>
#include <QHideEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <QPainter>
#include <QPushButton>
#include <QShortcut>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr int kPatienceMs = 1500;
const char *const kFirstModel = "llama-3-8b", *const kFirstGpu = "h100-sxm-80gb";

std::vector<Choice> modelChoices(const Catalogue &catalogue)
{
    std::vector<Choice> choices;
    for (const ModelSpec &model : catalogue.models)
        choices.push_back({ QString::fromStdString(model.id),
            QString::fromStdString(model.name.empty() ? model.id : model.name), QString::fromStdString(model.id) });
    return choices;
}

} // namespace

NewPlanSheet::NewPlanSheet(const Catalogue &catalogue, QWidget *parent)
    : QWidget(parent)
    , m_catalogue(catalogue)
    , m_sites(new QVBoxLayout)
    , m_links(new LinkRows(this))
    , m_linkSection(new QWidget(this))
    , m_model(new ChoiceField(modelChoices(catalogue), this))
    , m_sequence(countBox(1, 100'000'000, this))
    , m_batch(countBox(1, 100'000'000, this))
    , m_addSite(new QPushButton(tr("&Add region"), this))
    , m_config(new QPushButton(tr("From &config.json…"), this))
    , m_cancel(new QPushButton(tr("Cancel"), this))
    , m_create(new QPushButton(tr("Create plan"), this))
    , m_preview(new TextLine({}, Ink::Text, this))
    , m_details(new TextLine({}, Ink::Muted, this))
    , m_search(catalogue)
{
    setAccessibleName(tr("New plan"));
    setAcceptDrops(true);
    m_patience.setSingleShot(true);
    m_patience.setInterval(kPatienceMs);
    layOut();
    wire();
}

NewPlanSheet::~NewPlanSheet() = default;

void NewPlanSheet::layOut()
{
    m_model->setAccessibleName(tr("Model"));
    m_model->setPlaceholderText(tr("Type to search"));
    m_sequence->setAccessibleName(tr("Sequence length, tokens"));
    m_sequence->setSuffix(tr(" tokens"));
    m_batch->setAccessibleName(tr("Global batch, sequences per iteration"));
    m_batch->setSuffix(tr(" sequences"));
    m_preview->setObjectName(QStringLiteral("preview")); // its accessible name is what it says
    m_create->setProperty("isPrimary", true);
    for (QPushButton *button : { m_addSite, m_config, m_cancel, m_create })
        button->setAutoDefault(true); // Enter presses the one that has the focus
    layOutSheet(*this,
        { m_sites, m_links, m_linkSection, m_model, m_sequence, m_batch, m_addSite, m_config, m_cancel, m_create,
            m_preview, m_details });
}

void NewPlanSheet::wire()
{
    connect(m_addSite, &QPushButton::clicked, this, [this] {
        NewSite site = m_given.sites.empty() ? NewSite {} : m_given.sites.back(); // most clusters repeat their GPUs
        site.region.clear();
        site.name.clear();
        addSite(site);
        gather();
        m_rows.back()->region()->setFocus(Qt::TabFocusReason);
    });
    connect(m_links, &LinkRows::figuresTyped, this, [this](int from, int to, const NewLinkFigures &figures) {
        NewLinkFigures &kept = m_given.links[{ from, to }];
        if (figures.rttMs)
            kept.rttMs = figures.rttMs;
        if (figures.capacityGbps)
            kept.capacityGbps = figures.capacityGbps;
        gather();
    });
    connect(m_model, &ChoiceField::chosen, this, [this](const QString &id, const QString &) {
        m_given.model = id.toStdString();
        m_given.ownModel.reset();
        m_configFault.clear();
        gather();
    });
    for (QSpinBox *box : { m_sequence, m_batch })
        connect(box, &QSpinBox::valueChanged, this, &NewPlanSheet::gather);
    connect(m_config, &QPushButton::clicked, this, [this] {
        if (const QString path = m_chooseConfig ? m_chooseConfig() : QString(); !path.isEmpty())
            useConfig(path);
    });
    connect(m_cancel, &QPushButton::clicked, this, &NewPlanSheet::cancel);
    connect(m_create, &QPushButton::clicked, this, &NewPlanSheet::create);
    for (const auto key :
        { Qt::Key_Return, Qt::Key_Enter }) { // from anywhere: also from buttons, which take Enter for themselves
        auto *shortcut = new QShortcut(QKeySequence(Qt::CTRL | key), this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, &NewPlanSheet::create);
    }
    connect(&m_patience, &QTimer::timeout, this, &NewPlanSheet::finish);
    connect(&m_search, &NewPlanSearch::answered, this, [this](const NewPlanAnswer &answer) {
        showPreview();
        if (m_isCreating && answer.isComplete)
            finish();
    });
}

void NewPlanSheet::start()
{
    for (SiteRow *row : std::exchange(m_rows, {}))
        row->deleteLater();
    stopCreating();
    m_configFault.clear();
    m_given = {};
    m_given.model = kFirstModel;
    m_model->setCurrent(QString::fromLatin1(kFirstModel));
    {
        const QSignalBlocker quietSequence(m_sequence), quietBatch(m_batch);
        m_sequence->setValue(m_given.sequenceLength);
        m_batch->setValue(m_given.globalBatch);
    }
    addSite({ {}, tr("Datacenter 1"), kFirstGpu });
    gather();
    m_rows.front()->region()->setFocus(Qt::TabFocusReason);
}

void NewPlanSheet::addSite(const NewSite &site)
{
    auto *row = new SiteRow(m_catalogue, site, this);
    m_sites->addWidget(row);
    m_rows.push_back(row);
    connect(row, &SiteRow::changed, this, &NewPlanSheet::gather);
    connect(row, &SiteRow::removed, this, [this, row] { removeSite(row); });
    row->show();
}

void NewPlanSheet::removeSite(SiteRow *row)
{
    if (m_rows.size() < 2)
        return;
    const auto at = std::ranges::find(m_rows, row) - m_rows.begin();
    m_rows.erase(m_rows.begin() + at);
    row->hide();
    row->deleteLater();
    m_given.links.clear(); // they are by number, and the numbers are others now
    gather();
    m_rows[std::min(std::size_t(at), m_rows.size() - 1)]->region()->setFocus(Qt::TabFocusReason);
}

void NewPlanSheet::gather()
{
    const std::vector<NewSite> before = std::exchange(m_given.sites, {});
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i]->setNumber(int(i) + 1);
        m_rows[i]->setRemovable(m_rows.size() > 1);
        m_given.sites.push_back(m_rows[i]->site());
    }
    forgetMoved(m_given, before);
    m_given.sequenceLength = m_sequence->value();
    m_given.globalBatch = m_batch->value();
    m_links->setLinks(linksOf(m_given, m_catalogue), clusterOf(m_given, m_catalogue));
    m_linkSection->setVisible(m_rows.size() > 1);
    orderTabs();
    const bool isWhole = missingIn(m_given, m_catalogue).isEmpty();
    m_create->setEnabled(isWhole && !m_isCreating);
    m_search.setPlan(isWhole ? std::make_shared<const Plan>(planOf(m_given, m_catalogue)) : nullptr);
    showPreview();
}

void NewPlanSheet::orderTabs()
{
    QList<QWidget *> order;
    for (const SiteRow *row : m_rows)
        order << row->fields();
    order << m_addSite << m_links->fields() << m_model << m_config << m_sequence << m_batch << m_cancel << m_create;
    for (qsizetype i = 1; i < order.size(); ++i)
        setTabOrder(order[i - 1], order[i]);
}

void NewPlanSheet::showPreview()
{
    const QString missing = m_configFault.isEmpty() ? missingIn(m_given, m_catalogue) : m_configFault;
    const NewPlanPreview preview = previewOf(m_search.answer(), missing, gpusOf(m_given));
    m_preview->setText(preview.line);
    m_details->setText(m_isCreating ? tr("Creating…") : preview.details);
    m_preview->setInk(preview.fits && m_configFault.isEmpty() ? Ink::Text : Ink::Bad);
}

void NewPlanSheet::useConfig(const QString &path)
{
    m_queue.run(
        this, [path] { return modelOfConfig(path); },
        [this](const Expected<ModelSpec> &model) {
            m_configFault = model ? QString() : QString::fromStdString(toString(model.error()));
            if (model) {
                m_given.ownModel = *model;
                m_given.model.clear();
                m_model->setCurrent({}, QString::fromStdString(model->name));
            }
            gather();
        });
}

void NewPlanSheet::create()
{
    if (auto *field = qobject_cast<ChoiceField *>(focusWidget()))
        field->commit(); // a shortcut leaves the focus, and what is typed, where they are
    if (!missingIn(m_given, m_catalogue).isEmpty() || std::exchange(m_isCreating, true))
        return;
    m_create->setEnabled(false);
    if (m_search.answer().isComplete)
        finish();
    else
        m_patience.start();
}

void NewPlanSheet::finish()
{
    if (!std::exchange(m_isCreating, false))
        return;
    m_patience.stop();
    m_create->setEnabled(true);
    const NewPlanAnswer &answer = m_search.answer();
    emit created(answer.best ? answer.best->plan : std::make_shared<const Plan>(planOf(m_given, m_catalogue)));
}

void NewPlanSheet::cancel()
{
    stopCreating();
    emit cancelled();
}

void NewPlanSheet::stopCreating()
{
    m_isCreating = false;
    m_patience.stop();
    m_search.setPlan(nullptr);
}

/// Also where another page or plan is asked for meanwhile: a plan that comes late must not take its place.
void NewPlanSheet::hideEvent(QHideEvent *event)
{
    if (!event->spontaneous())
        stopCreating();
    QWidget::hideEvent(event);
}

void NewPlanSheet::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape)
        cancel();
    else
        QWidget::keyPressEvent(event);
}

void NewPlanSheet::dragEnterEvent(QDragEnterEvent *event)
{
    if (!droppedFile(event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void NewPlanSheet::dropEvent(QDropEvent *event)
{
    event->acceptProposedAction();
    takeDropped(droppedFile(event->mimeData()));
}

void NewPlanSheet::takeDropped(const QString &path)
{
    m_queue.run(
        this, [path] { return readBytes(path); },
        [this, path](const ExpectedAll<QByteArray> &content) {
            if (content && kindOf(*content) == FileKind::ModelConfig)
                useConfig(path);
            else
                emit fileDropped(path);
        });
}

void NewPlanSheet::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paintSheet(painter, rect());
}

} // namespace trainyard
