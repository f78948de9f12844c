-- Names of the free-form vault service `env` are secret unless they were stored as plain. The mark is bound into the
-- sealed value, so that setting it here makes nothing public.
ALTER TABLE vault_values ADD COLUMN is_plain INTEGER NOT NULL DEFAULT 0 CHECK (is_plain IN (0, 1));
