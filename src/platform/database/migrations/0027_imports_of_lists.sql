-- The imports of a list, newest first.
CREATE INDEX contact_imports_by_list ON contact_imports (list_id, id);
