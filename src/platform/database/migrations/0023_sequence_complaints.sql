-- Complaints count towards the threshold at which a sequence pauses, as bounces do.
ALTER TABLE sequence_mails ADD COLUMN complained_at INTEGER;
