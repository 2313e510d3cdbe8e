#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Many jobs at once: models from a list, batches and learning rates as lists of numbers, and below how many jobs that
// makes and what they are called. GUI thread.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"
#include "views/panels/job_sheet.h"

#include <vector>

class QComboBox;
class QLineEdit;
class QListWidget;

namespace trainyard {

class JobGridSheet : public JobSheet {
    Q_OBJECT
public:
    /// `start`: what stands in the fields at first; of a job that is cloned its name, else an empty text.
    JobGridSheet(const Catalogue &catalogue, const Job &start, const QString &cloned, QWidget *window);

    void openBeside(const QWidget *anchor);
    /// What stands in the fields; without models where something is wrong.
    [[nodiscard]] const JobGrid &grid() const { return m_grid; }
    [[nodiscard]] QLineEdit *filter() const { return m_filter; }
    [[nodiscard]] QListWidget *models() const { return m_models; }
    [[nodiscard]] QLineEdit *batches() const { return m_batches; }
    [[nodiscard]] QLineEdit *rates() const { return m_rates; }
    [[nodiscard]] QLineEdit *minibatches() const { return m_minibatches; }
    [[nodiscard]] QLineEdit *epochs() const { return m_epochs; }
    [[nodiscard]] TextLine *preview() const { return m_preview; }

private:
    void addModels(const Catalogue &catalogue, const std::string &checked);
    void showMatches(const QString &typed);
    void gather();
    void showPreview(const QString &fault);

    bool m_isClone;
    JobGrid m_grid;
    QLineEdit *m_filter;
    QListWidget *m_models;
    QLineEdit *m_batches, *m_rates, *m_minibatches, *m_epochs, *m_sequence;
    QComboBox *m_precision, *m_optimizer;
    TextLine *m_preview;
};

} // namespace trainyard
