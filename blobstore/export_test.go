package blobstore

// DamageMemory changes a byte of an object in memory and nothing else of it.
func DamageMemory(s Store, key string) {
	m := s.(*memory)
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[key]
	data := append([]byte(nil), o.data...)
	data[len(data)/2] ^= 1
	o.data = data
	m.objects[key] = o
}
