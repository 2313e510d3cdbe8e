// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/job_form.h"

#include "models/number_lists.h"
#include "models/text/duration.h"
#include "views/panels/enum_list.h"
#include "views/start/choice_field.h"
#include "views/theme/theme.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kJobFormWidth = 620;

std::vector<Choice> modelsOf(const Catalogue &catalogue)
{
    std::vector<Choice> choices;
    for (const ModelSpec &model : catalogue.models)
        choices.push_back({ QString::fromStdString(model.id),
            QString::fromStdString(model.name.empty() ? model.id : model.name), QString::fromStdString(model.id) });
    return choices;
}

QFormLayout *column()
{
    auto *form = new QFormLayout;
    form->setHorizontalSpacing(Theme::kPad);
    form->setVerticalSpacing(6);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    return form;
}

QString shortest(double number)
{
    return QString::number(number, 'g', 10);
}

} // namespace

JobForm::JobForm(const Catalogue &catalogue, const Job &job, bool isNew, QWidget *window)
    : JobSheet(isNew ? tr("Add a job") : QString::fromStdString(job.name), isNew ? tr("Add job") : tr("Done"),
        kJobFormWidth, window)
    , m_job(job)
    , m_isNew(isNew)
    , m_model(new ChoiceField(modelsOf(catalogue), this))
    , m_precision(enumList(tr("Precision"), job.precision, this))
    , m_optimizer(enumList(tr("Optimizer"), job.optimizer, this))
{
    m_model->setAccessibleName(tr("Model"));
    m_model->setPlaceholderText(tr("Type to search"));
    m_model->setFreeText(tr("The config.json at “%1”"));
    m_model->setCurrent(QString::fromStdString(job.model), QString::fromStdString(job.model));
    m_model->setMinimumWidth(220);
    QFormLayout *left = column(), *right = column();
    left->addRow(tr("Model"), m_model);
    addField(left, tr("Name"), isNew ? QString() : QString::fromStdString(job.name),
        tr("Tells it from other jobs. Empty: made of its model."), [this](const QString &text) {
            m_job.name = text.toStdString();
            return QString();
        });
    addCount(left, tr("Batch"), &Job::batch, 1e7, tr("Sequences of one mini-batch."));
    addCount(left, tr("Mini-batches"), &Job::minibatches, 1e9, tr("Of one epoch."));
    addCount(left, tr("Epochs"), &Job::epochs, 1e6, tr("How often they are gone through."));
    addCount(left, tr("Sequence length"), &Job::sequenceLength, 1e8, tr("Tokens of one sequence."));
    right->addRow(tr("Precision"), m_precision);
    right->addRow(tr("Optimizer"), m_optimizer);
    addField(right, tr("Learning rate"), job.learningRate ? shortest(*job.learningRate) : QString(),
        tr("No time depends on it. Empty: not named."), [this](const QString &text) {
            const auto rates = numbersIn(text, 0, 1e6, false);
            if (!rates || rates->size() > 1)
                return rates ? tr("one number is wanted") : rates.error();
            m_job.learningRate = rates->empty() ? std::nullopt : std::optional(rates->front());
            return QString();
        });
    addTime(right, tr("Arrives after"), job.arrivalS > 0 ? formatDuration(job.arrivalS) : QString(),
        tr("When it is there, from the start of the plan. Empty: at once."),
        [this](std::optional<double> s) { m_job.arrivalS = s.value_or(0); });
    addTime(right, tr("Deadline"), job.deadlineS ? formatDuration(*job.deadlineS) : QString(),
        tr("When it should have ended, from the start of the plan. Empty: none."),
        [this](std::optional<double> s) { m_job.deadlineS = s; });
    addField(right, tr("Priority"), shortest(job.priority), tr("Jobs of a higher one go first."),
        [this](const QString &text) {
            bool isNumber = false;
            const double priority = text.isEmpty() ? 0 : text.toDouble(&isNumber);
            if ((!isNumber && !text.isEmpty()) || !(std::abs(priority) <= 1e6))
                return tr("a number from −1,000,000 to 1,000,000 is wanted, not “%1”").arg(text);
            m_job.priority = priority;
            return QString();
        });
    field(tr("Name"))->setPlaceholderText(tr("made of its model"));
    field(tr("Learning rate"))->setPlaceholderText(tr("not named"));
    field(tr("Arrives after"))->setPlaceholderText(tr("at once"));
    field(tr("Deadline"))->setPlaceholderText(tr("none"));
    auto *columns = new QHBoxLayout;
    columns->setSpacing(Theme::kPad * 2);
    columns->addLayout(left, 3);
    columns->addLayout(right, 2);
    body().addLayout(columns);
    connect(m_model, &ChoiceField::chosen, this, [this](const QString &id, const QString &text) {
        m_job.model = (id.isEmpty() ? text : id).toStdString();
        gather();
    });
    connect(
        m_precision, &QComboBox::currentIndexChanged, this, [this](int index) { m_job.precision = Precision(index); });
    connect(
        m_optimizer, &QComboBox::currentIndexChanged, this, [this](int index) { m_job.optimizer = Optimizer(index); });
    connect(this, &JobSheet::accepted, m_model, &ChoiceField::commit);
    gather();
}

void JobForm::openBeside(const QWidget *anchor)
{
    QLineEdit *batch = field(tr("Batch"));
    open(anchor, m_isNew ? static_cast<QWidget *>(m_model) : batch);
    if (!m_isNew)
        batch->selectAll();
}

QLineEdit *JobForm::field(const QString &name) const
{
    const auto at =
        std::ranges::find_if(m_fields, [&](const auto &entry) { return entry.first->accessibleName() == name; });
    return at == m_fields.end() ? nullptr : at->first;
}

void JobForm::addField(QFormLayout *form, const QString &name, const QString &value, const QString &tip, Read read)
{
    auto *line = new QLineEdit(value, this);
    line->setAccessibleName(name);
    line->setToolTip(tip);
    line->setMinimumWidth(120);
    form->addRow(name, line);
    m_fields.emplace_back(line, std::move(read));
    connect(line, &QLineEdit::textChanged, this, &JobForm::gather);
}

void JobForm::addCount(QFormLayout *form, const QString &name, int Job::*member, double most, const QString &tip)
{
    addField(form, name, QString::number(m_job.*member), tip, [this, member, most](const QString &text) {
        const auto numbers = numbersIn(text, 1, most, true);
        if (!numbers)
            return numbers.error();
        if (numbers->size() != 1)
            return tr("one number is wanted");
        m_job.*member = int(numbers->front());
        return QString();
    });
}

void JobForm::addTime(QFormLayout *form, const QString &name, const QString &value, const QString &tip,
    std::function<void(std::optional<double>)> take)
{
    addField(form, name, value, tip, [take = std::move(take), value](const QString &text) {
        const std::optional<double> seconds = durationOf(text);
        if (!seconds && !text.isEmpty() && text != QStringLiteral("0"))
            return tr("a time such as 90 s, 5 min or 2 h is wanted, not “%1”").arg(text);
        if (text != value) // untouched: what is shown is rounded, the job's number is not
            take(seconds);
        return QString();
    });
}

void JobForm::gather()
{
    QString fault = m_job.model.empty() ? tr("Which model is missing.") : QString();
    for (const auto &[line, read] : m_fields) {
        const QString wrong = read(line->text().simplified());
        if (fault.isEmpty() && !wrong.isEmpty())
            fault = QStringLiteral("%1: %2.").arg(line->accessibleName(), wrong);
    }
    if (fault.isEmpty() && m_job.deadlineS && *m_job.deadlineS <= m_job.arrivalS)
        fault = tr("The deadline has to be later than the arrival.");
    setFault(fault);
}

} // namespace trainyard
