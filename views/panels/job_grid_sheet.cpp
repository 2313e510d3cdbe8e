// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/job_grid_sheet.h"

#include "core/facts/workload/model_math.h"
#include "models/job_edits.h"
#include "models/number_lists.h"
#include "models/text/format.h"
#include "views/panels/enum_list.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr double kMostJobs = 100'000, kFewJobs = 1000; // above: shown as a count alone
constexpr std::size_t kShownNames = 4;
constexpr int kGridSheetWidth = 640, kListWidth = 250, kListHeight = 210, kFieldWidth = 190;

QLineEdit *field(const QString &name, const QString &text, const QString &tip, QWidget *parent)
{
    auto *line = new QLineEdit(text, parent);
    line->setAccessibleName(name);
    line->setToolTip(tip);
    line->setMinimumWidth(kFieldWidth);
    return line;
}

template <class T> std::vector<T> asList(const std::vector<double> &numbers)
{
    return { numbers.begin(), numbers.end() };
}

} // namespace

JobGridSheet::JobGridSheet(const Catalogue &catalogue, const Job &start, const QString &cloned, QWidget *window)
    : JobSheet(cloned.isEmpty() ? tr("Jobs as a grid") : tr("Clone %1 as a grid").arg(cloned), tr("Add jobs"),
        kGridSheetWidth, window)
    , m_isClone(!cloned.isEmpty())
    , m_filter(field(tr("Search models"), {}, tr("Shows models whose names have this in them."), this))
    , m_models(new QListWidget(this))
    , m_batches(field(tr("Batches"), QString::number(start.batch),
          tr("Sequences of one mini-batch: each number makes a job of every model."), this))
    , m_rates(field(tr("Learning rates"), start.learningRate ? numbersText({ *start.learningRate }) : QString(),
          tr("Each makes a job. They tell jobs apart; no time depends on them. Empty: not named."), this))
    , m_minibatches(field(tr("Mini-batches"), QString::number(start.minibatches), tr("Of one epoch."), this))
    , m_epochs(field(tr("Epochs"), QString::number(start.epochs), tr("How often they are gone through."), this))
    , m_sequence(
          field(tr("Sequence length"), QString::number(start.sequenceLength), tr("Tokens of one sequence."), this))
    , m_precision(enumList(tr("Precision"), start.precision, this))
    , m_optimizer(enumList(tr("Optimizer"), start.optimizer, this))
    , m_preview(new TextLine({}, Ink::Text, this))
{
    m_filter->setPlaceholderText(tr("Search models"));
    m_filter->setClearButtonEnabled(true);
    m_rates->setPlaceholderText(tr("not named"));
    m_models->setAccessibleName(tr("Models"));
    m_models->setMinimumHeight(kListHeight);
    m_models->setProperty("isFramed", true);
    m_models->setMinimumWidth(kListWidth);
    m_models->setUniformItemSizes(true);
    m_models->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_preview->setWrapped(true);
    m_preview->setObjectName(QStringLiteral("preview"));
    addModels(catalogue, start.model);

    auto *left = new QVBoxLayout;
    left->setSpacing(6);
    left->addWidget(m_filter);
    left->addWidget(m_models, 1);
    auto *form = new QFormLayout;
    form->setHorizontalSpacing(Theme::kPad);
    form->setVerticalSpacing(6);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    for (QWidget *one : std::initializer_list<QWidget *> {
             m_batches, m_rates, m_minibatches, m_epochs, m_sequence, m_precision, m_optimizer })
        form->addRow(one->accessibleName(), one);
    auto *columns = new QHBoxLayout;
    columns->setSpacing(Theme::kPad * 2);
    columns->addLayout(left, 1);
    columns->addLayout(form);
    body().addLayout(columns);
    body().addWidget(m_preview);

    connect(m_filter, &QLineEdit::textChanged, this, &JobGridSheet::showMatches);
    connect(m_models, &QListWidget::itemChanged, this, &JobGridSheet::gather);
    for (QLineEdit *line : { m_batches, m_rates, m_minibatches, m_epochs, m_sequence })
        connect(line, &QLineEdit::textChanged, this, &JobGridSheet::gather);
    for (QComboBox *list : { m_precision, m_optimizer })
        connect(list, &QComboBox::currentIndexChanged, this, &JobGridSheet::gather);
    gather();
}

void JobGridSheet::openBeside(const QWidget *anchor)
{
    open(anchor, m_isClone ? m_batches : static_cast<QWidget *>(m_models));
    if (m_isClone)
        m_batches->selectAll();
}

void JobGridSheet::addModels(const Catalogue &catalogue, const std::string &checked)
{
    std::vector<const ModelSpec *> models;
    for (const ModelSpec &model : catalogue.models)
        models.push_back(&model);
    std::ranges::stable_sort(models, {}, [](const ModelSpec *model) { return totalParameters(*model); });
    const auto add = [this, &checked](const QString &label, const std::string &id) {
        auto *item = new QListWidgetItem(label, m_models);
        item->setData(Qt::UserRole, QString::fromStdString(id));
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        item->setCheckState(id == checked ? Qt::Checked : Qt::Unchecked);
        if (id == checked)
            m_models->setCurrentItem(item);
    };
    if (!checked.empty() && !catalogue.model(checked))
        add(QString::fromStdString(checked), checked); // of a file
    for (const ModelSpec *model : models)
        add(QStringLiteral("%1 · %2").arg(QString::fromStdString(model->name.empty() ? model->id : model->name),
                formatCount(totalParameters(*model))),
            model->id);
    if (m_models->currentItem())
        m_models->scrollToItem(m_models->currentItem(), QAbstractItemView::PositionAtCenter);
}

void JobGridSheet::showMatches(const QString &typed)
{
    for (int i = 0; i < m_models->count(); ++i) {
        QListWidgetItem *item = m_models->item(i);
        item->setHidden(!item->text().contains(typed, Qt::CaseInsensitive)
            && !item->data(Qt::UserRole).toString().contains(typed, Qt::CaseInsensitive));
    }
}

void JobGridSheet::gather()
{
    m_grid = {};
    QString fault;
    const auto numbers = [&fault](const QLineEdit &line, double high, bool isWhole, bool isWanted) {
        const auto read = numbersIn(line.text(), isWhole ? 1 : 0, high, isWhole);
        if (fault.isEmpty() && !read)
            fault = QStringLiteral("%1: %2.").arg(line.accessibleName(), read.error());
        else if (fault.isEmpty() && read->empty() && isWanted)
            fault = tr("%1: a number is missing.").arg(line.accessibleName());
        return read ? *read : std::vector<double> {};
    };
    JobGrid grid;
    grid.batch = asList<int>(numbers(*m_batches, 1e7, true, true));
    grid.learningRate = numbers(*m_rates, 1e6, false, false);
    grid.minibatches = asList<int>(numbers(*m_minibatches, 1e9, true, true));
    grid.epochs = asList<int>(numbers(*m_epochs, 1e6, true, true));
    grid.sequenceLength = asList<int>(numbers(*m_sequence, 1e8, true, true));
    grid.precision = { Precision(m_precision->currentIndex()) };
    grid.optimizer = { Optimizer(m_optimizer->currentIndex()) };
    for (int i = 0; i < m_models->count(); ++i)
        if (m_models->item(i)->checkState() == Qt::Checked)
            grid.model.push_back(m_models->item(i)->data(Qt::UserRole).toString().toStdString());
    if (fault.isEmpty() && grid.model.empty())
        fault = tr("Check one model at least.");
    if (fault.isEmpty() && jobsOf(grid) > kMostJobs)
        fault = tr("That makes %1 jobs; a plan takes 100,000 at most.").arg(formatCount(jobsOf(grid)));
    if (fault.isEmpty())
        m_grid = std::move(grid);
    showPreview(fault);
}

void JobGridSheet::showPreview(const QString &fault)
{
    setFault(fault, tr("Space checks a model. Several numbers in a field make a job each."));
    if (!fault.isEmpty()) {
        m_preview->setText({});
        return;
    }
    const double count = jobsOf(m_grid);
    Plan made;
    made.jobGrid = m_grid;
    QStringList names;
    for (const Job &job : allJobs(made, std::min(std::size_t(count), kShownNames)))
        names << QString::fromStdString(job.name);
    QString text =
        countOf(qint64(count), tr("job"), tr("jobs")) + QStringLiteral(": ") + names.join(QStringLiteral("; "));
    if (count > double(kShownNames))
        text += tr("; and %1 more")
                    .arg(count > kFewJobs ? formatCount(count - double(kShownNames))
                                          : QString::number(int(count) - int(kShownNames)));
    m_preview->setText(text + u'.');
    doneButton()->setText(tr("Add %1").arg(countOf(qint64(count), tr("job"), tr("jobs"))));
}

} // namespace trainyard
