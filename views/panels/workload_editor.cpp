// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/workload_editor.h"

#include "core/facts/plan/key_list.h"
#include "core/facts/plan/keys/training_keys.h"
#include "core/facts/plan/plan_io.h"
#include "core/facts/workload/model_math.h"
#include "models/text/format.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QComboBox>
#include <QCompleter>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>
#include <QWheelEvent>

namespace trainyard {

namespace {

const QString kFromFile = QStringLiteral("\x01"); // data of the entry that asks for a file
const QString kInline = QStringLiteral("\x02"); // data of the entry for a model that the plan holds itself

/// A spin box that commits when editing ends, and lets the wheel scroll the panel.
class CountBox : public QSpinBox {
public:
    CountBox(int WorkloadSpec::*member, const QString &one, const QString &many, QWidget *parent)
        : QSpinBox(parent)
        , m_one(one)
        , m_many(many)
    {
        const Key key = keys::keyOf(member);
        connect(this, &QSpinBox::valueChanged, this, &CountBox::showUnit);
        setRange(int(key.min), int(key.max));
        setKeyboardTracking(false);
        setGroupSeparatorShown(true);
        setAlignment(Qt::AlignRight);
        setFocusPolicy(Qt::StrongFocus);
    }

    void showUnit() { setSuffix(value() == 1 ? m_one : m_many); }

protected:
    void wheelEvent(QWheelEvent *event) override { event->ignore(); }

private:
    QString m_one, m_many;
};

QString precisionName(Precision precision)
{
    return QString::fromLatin1(toString(precision)).toUpper();
}

/// "1.5T", "300 B", "1.5e13", "2,000,000" → tokens; empty text → none. False where it is not a number.
bool parseTokens(QString text, std::optional<double> &tokens)
{
    text = text.simplified().remove(u' ').remove(u',').remove(QStringLiteral("tokens"), Qt::CaseInsensitive);
    tokens.reset();
    if (text.isEmpty())
        return true;
    double factor = 1;
    static constexpr std::array<std::pair<char, double>, 4> kSuffixes { { { 'k', 1e3 }, { 'm', 1e6 }, { 'b', 1e9 },
        { 't', 1e12 } } };
    for (const auto &[suffix, times] : kSuffixes) {
        if (text.back().toLower() == QLatin1Char(suffix)) {
            factor = times;
            text.chop(1);
            break;
        }
    }
    bool ok = false;
    const double value = text.toDouble(&ok) * factor;
    if (!ok || !(value > 0))
        return false;
    tokens = value;
    return true;
}

QString modelLabel(const WorkloadSpec &workload, const Catalogue &catalogue)
{
    if (workload.inlineModel)
        return workload.inlineModel->name.empty() ? QObject::tr("described in the plan")
                                                  : QString::fromStdString(workload.inlineModel->name);
    const ModelSpec *model = catalogue.model(workload.model);
    return QString::fromStdString(model && !model->name.empty() ? model->name : workload.model);
}

void addRow(QFormLayout *form, const char *path, QWidget *field)
{
    const Key &key = planKey(path).key;
    const QString label = QString::fromUtf8(key.title), tip = QString::fromUtf8(key.help);
    auto *name = new TextLine(label, Ink::Text);
    name->setFixedHeight(field->sizeHint().height()); // centred on its field
    name->setToolTip(tip);
    field->setToolTip(tip);
    field->setAccessibleName(label);
    form->addRow(name, field);
}

} // namespace

WorkloadEditor::WorkloadEditor(const Catalogue &catalogue, QWidget *parent)
    : QWidget(parent)
    , m_catalogue(catalogue)
    , m_model(new QComboBox(this))
    , m_precision(new QComboBox(this))
    , m_optimizer(new QComboBox(this))
    , m_sequence(new CountBox(&WorkloadSpec::sequenceLength, tr(" token"), tr(" tokens"), this))
    , m_globalBatch(new CountBox(&WorkloadSpec::globalBatch, tr(" sequence"), tr(" sequences"), this))
    , m_microBatch(new CountBox(&WorkloadSpec::microBatch, tr(" sequence"), tr(" sequences"), this))
    , m_tokens(new QLineEdit(this))
    , m_derived(new TextLine({}, Ink::Muted, this))
    , m_fields(new QWidget(this))
    , m_aside(asideNote())
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Workload"));
    addFields();
    wire();
    refresh(); // nothing to edit until a plan comes
}

void WorkloadEditor::addFields()
{
    for (const ModelSpec &model : m_catalogue.models)
        m_model->addItem(
            QString::fromStdString(model.name.empty() ? model.id : model.name), QString::fromStdString(model.id));
    m_model->addItem(tr("From config.json…"), kFromFile);
    m_model->setEditable(true);
    m_model->setInsertPolicy(QComboBox::NoInsert);
    m_model->completer()->setFilterMode(Qt::MatchContains);
    m_model->completer()->setCompletionMode(QCompleter::PopupCompletion);
    m_model->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    for (int i = 0; i < kPrecisionCount; ++i)
        m_precision->addItem(precisionName(static_cast<Precision>(i)), i);
    for (const EnumName &optimizer : kNamesOf<Optimizer>)
        m_optimizer->addItem(QString::fromUtf8(optimizer.label), m_optimizer->count());
    m_tokens->setAlignment(Qt::AlignRight);
    m_tokens->setTextMargins(0, 0, 13, 0); // under the digits of the boxes with buttons
    m_tokens->setPlaceholderText(QString::fromUtf8(keys::keyOf(&WorkloadSpec::trainingTokens).lowestMeans));
    m_derived->setWrapped(true);

    QVBoxLayout *layout = panelLayout(this);
    auto *form = new QFormLayout(m_fields);
    form->setContentsMargins(0, 0, 0, 0);
    form->setHorizontalSpacing(Theme::kPad);
    form->setVerticalSpacing(5);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    addRow(form, "workload.model", m_model);
    addRow(form, "workload.sequence_length", m_sequence);
    addRow(form, "workload.global_batch", m_globalBatch);
    addRow(form, "workload.micro_batch", m_microBatch);
    addRow(form, "workload.precision", m_precision);
    addRow(form, "workload.optimizer", m_optimizer);
    addRow(form, "workload.training_tokens", m_tokens);
    layout->addWidget(m_aside);
    layout->addWidget(m_fields);
    layout->addWidget(m_derived);
    layout->addStretch(1);
}

QWidget *WorkloadEditor::asideNote()
{
    auto *note = new QWidget(this);
    auto *row = new QHBoxLayout(note);
    row->setContentsMargins(0, 0, 0, 4);
    row->setSpacing(Theme::kGap);
    auto *words = new TextLine({}, Ink::Warning, note);
    words->setObjectName(QStringLiteral("aside"));
    words->setWrapped(true);
    auto *show = new QPushButton(tr("Jobs"), note);
    show->setToolTip(tr("What the plan trains instead."));
    show->setAutoDefault(false);
    row->addWidget(words, 1);
    row->addWidget(show, 0, Qt::AlignTop);
    connect(show, &QPushButton::clicked, this, &WorkloadEditor::jobsRequested);
    note->hide();
    return note;
}

void WorkloadEditor::wire()
{
    connect(m_model, &QComboBox::activated, this, &WorkloadEditor::commitModel);
    connect(m_model->lineEdit(), &QLineEdit::editingFinished, this, [this] {
        const int index = m_model->findText(m_model->currentText(), Qt::MatchFixedString);
        if (index < 0)
            refresh(); // what was typed is no model: back to the plan's
        else
            commitModel(index);
    });
    const auto number = [this](QSpinBox *box, int WorkloadSpec::*field) {
        const QString name = QString::fromUtf8(keys::keyOf(field).title);
        connect(box, &QSpinBox::valueChanged, this, [this, field, name](int value) {
            if (!m_plan || m_plan->workload.*field == value)
                return;
            WorkloadSpec next = m_plan->workload;
            next.*field = value;
            commit(next, tr("%1 %2 → %3").arg(name).arg(m_plan->workload.*field).arg(value));
        });
    };
    number(m_sequence, &WorkloadSpec::sequenceLength);
    number(m_globalBatch, &WorkloadSpec::globalBatch);
    number(m_microBatch, &WorkloadSpec::microBatch);
    connect(m_precision, &QComboBox::activated, this, [this](int index) {
        if (!m_plan)
            return;
        WorkloadSpec next = m_plan->workload;
        next.precision = static_cast<Precision>(m_precision->itemData(index).toInt());
        commit(
            next, tr("Precision %1 → %2").arg(precisionName(m_plan->workload.precision), m_precision->itemText(index)));
    });
    connect(m_optimizer, &QComboBox::activated, this, [this](int index) {
        if (!m_plan)
            return;
        WorkloadSpec next = m_plan->workload;
        next.optimizer = static_cast<Optimizer>(m_optimizer->itemData(index).toInt());
        commit(next,
            tr("Optimizer %1 → %2")
                .arg(QString::fromUtf8(labelOf(m_plan->workload.optimizer)), m_optimizer->itemText(index)));
    });
    connect(m_tokens, &QLineEdit::editingFinished, this, &WorkloadEditor::commitTokens);
}

void WorkloadEditor::setShown(const Shown &shown)
{
    m_evaluation = shown.evaluation;
    m_plan = shown.base;
    if (shown.isPreview() && isAncestorOf(QApplication::focusWidget()))
        return; // what is typed stays
    const bool isOther = std::exchange(m_shownPlan, shown.plan) != shown.plan;
    if (isOther || !m_plan)
        refresh();
    else
        describeModel();
}

void WorkloadEditor::refresh()
{
    setEnabled(m_shownPlan != nullptr);
    if (!m_shownPlan)
        return;
    const bool isAside = hasJobs(*m_shownPlan);
    m_aside->setVisible(isAside);
    m_fields->setEnabled(!isAside);
    m_derived->setDimmed(isAside);
    if (isAside)
        m_aside->findChild<TextLine *>(QStringLiteral("aside"))
            ->setText(tr("The plan trains %1; its own workload is set aside until they are removed.")
                          .arg(countOf(qint64(jobCount(*m_shownPlan)), tr("job"), tr("jobs"))));
    const WorkloadSpec &workload = m_shownPlan->workload;
    const QSignalBlocker blockers[] = { QSignalBlocker(m_sequence), QSignalBlocker(m_globalBatch),
        QSignalBlocker(m_microBatch), QSignalBlocker(m_model) };
    const int own = m_model->findData(kInline);
    if (own >= 0)
        m_model->removeItem(own);
    int index = workload.inlineModel ? -1 : m_model->findData(QString::fromStdString(workload.model));
    if (index < 0) {
        m_model->insertItem(0, modelLabel(workload, m_catalogue), kInline);
        index = 0;
    }
    m_model->setCurrentIndex(index);
    m_model->lineEdit()->setCursorPosition(0);
    m_sequence->setValue(workload.sequenceLength);
    m_globalBatch->setValue(workload.globalBatch);
    m_microBatch->setValue(workload.microBatch);
    for (QSpinBox *box : { m_sequence, m_globalBatch, m_microBatch })
        static_cast<CountBox *>(box)->showUnit(); // signals are blocked here
    m_precision->setCurrentIndex(m_precision->findData(int(workload.precision)));
    m_optimizer->setCurrentIndex(m_optimizer->findData(int(workload.optimizer)));
    m_tokens->setText(workload.trainingTokens ? formatCount(*workload.trainingTokens) : QString());
    describeModel();
}

void WorkloadEditor::describeModel()
{
    if (!m_shownPlan)
        return;
    const WorkloadSpec &workload = m_shownPlan->workload;
    const ModelSpec *model = workload.inlineModel ? &*workload.inlineModel : m_catalogue.model(workload.model);
    if (!model && m_evaluation && m_evaluation->plan && m_evaluation->plan->workload.model == workload.model)
        model = &m_evaluation->model;
    if (!model || model->layers == 0) {
        m_derived->setText({});
        return;
    }
    const double parameters = totalParameters(*model);
    const double perToken = modelFlopsPerSequence(*model, workload.sequenceLength) / workload.sequenceLength;
    QString text = tr("%1 parameters").arg(formatCount(parameters));
    if (model->isMoe())
        text += tr(", %1 active").arg(formatCount(activeParameters(*model)));
    text += tr(" · %1 layers · %2FLOPs per token")
                .arg(model->layers)
                .arg(formatCount(perToken)
                         .replace(QLatin1Char('B'), QStringLiteral(" G"))
                         .replace(QLatin1Char('T'), QStringLiteral(" T"))
                         .replace(QLatin1Char('M'), QStringLiteral(" M")));
    text += tr(" · %1 tokens per iteration").arg(formatCount(double(workload.sequenceLength) * workload.globalBatch));
    m_derived->setText(text);
}

void WorkloadEditor::commitModel(int index)
{
    const QString id = m_model->itemData(index).toString();
    if (!m_plan || id == kInline)
        return;
    if (id == kFromFile) {
        refresh();
        Q_EMIT configRequested();
        return;
    }
    WorkloadSpec next = m_plan->workload;
    next.model = id.toStdString();
    next.inlineModel.reset();
    commit(next, tr("Model %1 → %2").arg(modelLabel(m_plan->workload, m_catalogue), m_model->itemText(index)));
}

void WorkloadEditor::commitTokens()
{
    std::optional<double> tokens;
    if (!m_plan
        || m_tokens->text()
            == (m_plan->workload.trainingTokens ? formatCount(*m_plan->workload.trainingTokens) : QString()))
        return; // untouched: the shown text is rounded, the plan's number is not
    if (!parseTokens(m_tokens->text(), tokens)) {
        refresh();
        return;
    }
    WorkloadSpec next = m_plan->workload;
    next.trainingTokens = tokens;
    commit(next, tokens ? tr("Training tokens %1").arg(formatCount(*tokens)) : tr("Training tokens not given"));
}

void WorkloadEditor::commit(const WorkloadSpec &workload, const QString &text)
{
    if (!m_plan || workload == m_plan->workload)
        return;
    Plan next = *m_plan;
    next.workload = workload;
    m_plan = m_shownPlan =
        std::make_shared<const Plan>(std::move(next)); // a second field may commit before the document answers
    Q_EMIT editCommitted(m_plan, text);
}

} // namespace trainyard
