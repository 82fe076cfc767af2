-- The list of a tenant's matches, in the order in which they were opened.
CREATE INDEX matches_of_tenant ON matches (tenant, entry);
