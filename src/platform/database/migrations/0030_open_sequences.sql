-- Asked for at every new contact of a list.

CREATE INDEX sequences_open ON sequences (list_id) WHERE status IN ('active', 'paused');
