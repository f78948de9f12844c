-- What was told last of mails to an address, for soft bounces in a row.
CREATE INDEX email_reports_of_address ON email_reports (address, id);
