#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// All that one job is, as a form: a new one, or one of the list. GUI thread.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"
#include "views/panels/job_sheet.h"

#include <functional>
#include <vector>

class QComboBox;
class QFormLayout;
class QLineEdit;

namespace trainyard {

class ChoiceField;

class JobForm : public JobSheet {
    Q_OBJECT
public:
    /// `isNew`: its name may stay empty, and is made of its model then.
    JobForm(const Catalogue &catalogue, const Job &job, bool isNew, QWidget *window);

    void openBeside(const QWidget *anchor);
    [[nodiscard]] const Job &job() const { return m_job; }
    [[nodiscard]] QLineEdit *field(const QString &name) const;
    [[nodiscard]] ChoiceField *model() const { return m_model; }

private:
    /// Reads one field into the job; a sentence where that cannot be taken.
    using Read = std::function<QString(const QString &text)>;
    void addField(QFormLayout *form, const QString &name, const QString &value, const QString &tip, Read read);
    void addCount(QFormLayout *form, const QString &name, int Job::*member, double most, const QString &tip);
    void addTime(QFormLayout *form, const QString &name, const QString &value, const QString &tip,
        std::function<void(std::optional<double>)> take);
    void gather();

    Job m_job;
    bool m_isNew;
    ChoiceField *m_model;
    QComboBox *m_precision, *m_optimizer;
    std::vector<std::pair<QLineEdit *, Read>> m_fields;
};

} // namespace trainyard
