package indexer

// WithoutNotifications has Watch poll until restore is called.
func WithoutNotifications() (restore func()) {
	before := notifies
	notifies = false
	return func() { notifies = before }
}
