#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// All numbers of all variants in one table, a column each, with differences against any one of them. GUI thread.

#include "models/session/variant_numbers.h"

#include <QWidget>

class QComboBox;

namespace trainyard {

class EvidenceTable;

class AllNumbers : public QWidget {
    Q_OBJECT
public:
    AllNumbers(SessionDocument &session, const Catalogue &catalogue, QWidget *parent = nullptr);

    /// against which; it begins with the baseline
    QComboBox *const base;
    EvidenceTable *const table;

    [[nodiscard]] VariantNumbers &numbers() { return m_numbers; }

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    class Model;
    void listVariants();
    void fill();

    SessionDocument &m_session;
    Model *m_model;
    /// of the variant that was chosen; empty: the baseline
    std::string m_chosen;
    bool m_isListing = false;
    VariantNumbers m_numbers;
};

} // namespace trainyard
