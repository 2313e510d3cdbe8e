#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is trained: model, sequence, batch, precision, optimizer, tokens. Commits when editing is finished. GUI thread.

#include "core/facts/catalogue/catalogue.h"
#include "models/shown.h"

#include <QWidget>

#include <string>
#include <vector>

class QComboBox;
class QLineEdit;
class QSpinBox;

namespace trainyard {

class TextLine;

class WorkloadEditor : public QWidget {
    Q_OBJECT
public:
    explicit WorkloadEditor(const Catalogue &catalogue, QWidget *parent = nullptr);

    /// Shows the workload of the plan that is shown, with its model where that was read from a file; edits start from
    /// its base.
    void setShown(const Shown &shown);
    /// Keys that have a field here.
    [[nodiscard]] static const std::vector<std::string> &keys();
    /// Gives the field of a key the keyboard. False: there is none, or there is nothing to edit.
    bool goToKey(const std::string &path);
    /// Opens the list of models at one by its catalogue id: Enter takes it, Esc leaves it. False: it has none.
    bool offerModel(const QString &id);

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    /// "From config.json…" was chosen: whoever asks for files makes the file's model that of the plan.
    void configRequested();
    /// to see what the plan trains instead
    void jobsRequested();

private:
    void addFields();
    [[nodiscard]] QWidget *asideNote();
    void wire();
    void refresh();
    void commitModel(int index);
    void commit(const WorkloadSpec &next, const QString &text);
    void commitTokens();
    void describeModel();

    const Catalogue &m_catalogue;
    /// that edits start from; that is shown
    PlanPtr m_plan, m_shownPlan;
    EvaluationPtr m_evaluation;
    QComboBox *m_model, *m_precision, *m_optimizer;
    QSpinBox *m_sequence, *m_globalBatch, *m_microBatch;
    QLineEdit *m_tokens;
    TextLine *m_derived;
    /// m_aside: there are jobs
    QWidget *m_fields, *m_aside;
};

} // namespace trainyard
